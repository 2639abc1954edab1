//! `/tokens`: one's own tokens for the API. A token is shown once, when it is added.

use askama::Template;
use axum::extract::State;
use catalog::Role;
use operations::tokens::{self, NewToken, ORDERS, Token};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path, Query};
use crate::parts::table::{
    Action, Bulk, BulkForm, Cell, Column, FilterKind, Filters, Shown, Table, View, bulk_done,
};
use crate::parts::{Confirm, Errors, Typed};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    name: String,
    role: Role,
    /// Empty: without an end.
    days: String,
}

#[derive(Template)]
#[template(path = "tokens.html")]
struct Tokens {
    who: Who,
    table: Shown,
    /// The secret of a token that was just added.
    made: Option<String>,
    form: TokenForm,
    errors: Errors,
}

/// The form as it was filled in.
struct TokenForm {
    name: String,
    role: String,
    days: String,
}

impl Tokens {
    /// Roles that one can hand on.
    fn roles(&self) -> Vec<(&'static str, &'static str)> {
        let own = self.who.role;
        let roles = Role::ALL.into_iter().filter(|role| *role <= own);
        roles.map(|role| (role.name(), role.name())).collect()
    }

    fn lifetimes(&self) -> [(&'static str, &'static str); 4] {
        [
            ("30", "in 30 days"),
            ("90", "in 90 days"),
            ("365", "in a year"),
            ("", "never"),
        ]
    }
}

impl Default for TokenForm {
    fn default() -> Self {
        Self {
            name: String::new(),
            role: Role::Viewer.name().to_owned(),
            days: "90".to_owned(),
        }
    }
}

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    answer(&state, who, asked, |who, table| {
        page(&Tokens {
            who,
            table,
            made: None,
            form: TokenForm::default(),
            errors: Errors::default(),
        })
    })
    .await
}

pub(crate) async fn add(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Form(Parameters { name, role, days }): Form<Parameters>,
) -> Answer {
    let new = NewToken {
        name: name.clone(),
        role,
        // 0 is refused, as anything is that is no number.
        days: (!days.is_empty()).then(|| days.parse().unwrap_or(0)),
    };
    let added = tokens::add(state.context(), &who.actor(), new).await;
    let (made, form, errors) = match added {
        Ok(added) => (Some(added.secret), TokenForm::default(), Errors::default()),
        Err(refusal) => {
            let role = role.name().to_owned();
            (
                None,
                TokenForm { name, role, days },
                Errors::of_form(refusal)?,
            )
        }
    };
    answer(&state, who, Typed::default(), |who, table| {
        let is_made = made.is_some();
        let tokens = Tokens {
            who,
            table,
            made,
            form,
            errors,
        };
        match is_made {
            true => page(&tokens),
            false => form_again(&tokens),
        }
    })
    .await
}

/// A page with the list of one's tokens.
async fn answer(
    state: &ConsoleState,
    who: Who,
    asked: Typed,
    page: impl FnOnce(Who, Shown) -> Answer,
) -> Answer {
    let (state, actor) = (state.clone(), who.actor());
    let read = move |view: View| {
        let (state, actor) = (state.clone(), actor.clone());
        async move {
            let all = tokens::list(state.context(), &actor).await?;
            view.paging().page(all, ORDERS)
        }
    };
    table(Filters::new(asked)).answer_in(who, read, page).await
}

fn table(filters: Filters) -> Table<Token> {
    Table::new("/tokens", WORDS, filters)
        .sorted_by("name", false)
        .column(
            Column::new("name", "Name", |row: &Token| Cell::text(&row.name))
                .smallest_first()
                .row_heading()
                .breaking(),
        )
        .column(
            Column::new("role", "Role", |row: &Token| Cell::text(row.role.name())).largest_first(),
        )
        .column(
            Column::new("created", "Created", |row: &Token| {
                Cell::Time(row.created.0)
            })
            .largest_first(),
        )
        .column(
            Column::new("expires", "Expires", |row: &Token| {
                Cell::of(row.expires, |expires| Cell::Time(expires.0), "never")
            })
            .smallest_first(),
        )
        .column(
            Column::new("last_used", "Last used", |row: &Token| {
                Cell::of(row.last_used, |used| Cell::Ago(used.0), "never")
            })
            .largest_first(),
        )
        .column(Column::new("actions", "Actions", |row: &Token| {
            let removal = format!("/tokens/{}/remove", row.id);
            Cell::Actions(vec![Action::page("Remove", removal, &row.name)])
        }))
        .bulk(
            |row| row.id,
            vec![Bulk::post("/tokens/bulk", "remove", "Remove").dangerous()],
        )
        .fields(&["id", "name", "role", "created", "expires", "last_used"])
        .empty("You have no tokens.", None)
}

/// `POST /tokens/bulk`
pub(crate) async fn bulk(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Form(form): Form<BulkForm>,
) -> Answer {
    if form.action != "remove" {
        return Err(Problem::invalid("choose what to do: remove"));
    }
    let mut results = Vec::with_capacity(form.ids.len());
    for id in form.ids {
        let removed = tokens::remove(state.context(), &who.actor(), id).await;
        results.push((id, removed.map(drop)));
    }
    bulk_done("/tokens", WORDS, "removed", results)
}

const WORDS: [&str; 2] = ["token", "tokens"];

/// `GET /tokens/{id}/remove`
pub(crate) async fn confirm_removal(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let token = tokens::show(state.context(), &who.actor(), id).await?;
    page(&Confirm {
        who,
        question: format!("Remove the token {}?", token.name),
        losses: vec!["Programs that use it cannot use the API any more.".to_owned()],
        verb: "Remove token".to_owned(),
        action: format!("/tokens/{id}/remove"),
        back: "/tokens".to_owned(),
    })
}

/// `POST /tokens/{id}/remove`
pub(crate) async fn remove(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let token = tokens::remove(state.context(), &who.actor(), id).await?;
    let message = format!("Token {} removed.", token.name);
    Ok(done("/tokens", message))
}
