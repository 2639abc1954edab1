//! `/accounts`: all accounts, and a form to add one.

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use catalog::Role;
use operations::accounts::{self, Account, NewAccount, ORDERS};
use serde::Deserialize;

use super::account::mail_link;
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path, Query};
use crate::parts::table::{Cell, Column, Filter, FilterKind, Filters, Shown, Table, View};
use crate::parts::{Errors, Typed};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Admin, Who};

#[derive(Template)]
#[template(path = "accounts.html")]
struct Accounts {
    who: Who,
    table: Shown,
    name: String,
    role: String,
    email: String,
    /// Whether an invitation can be sent by e-mail.
    can_mail: bool,
    /// Whether it is to be.
    mail: bool,
    errors: Errors,
}

/// The form of a new account; without a password it is invited.
#[derive(Debug, Deserialize)]
pub(crate) struct AccountForm {
    name: String,
    role: Role,
    #[serde(default)]
    email: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    again: String,
    /// Whether an invitation is sent by e-mail.
    #[serde(default)]
    mail: bool,
}

/// The roles and their permissions, to choose from.
pub(crate) const ROLES: [(&str, &str); 3] = [
    ("viewer", "viewer: can look at everything"),
    (
        "operator",
        "operator: can run and edit repositories, schedules and jobs",
    ),
    ("admin", "admin: can manage accounts as well"),
];

pub(crate) async fn list(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let can_mail = state.context().settings().mailer.can_send();
    answer(&state, who, asked, |who, table| {
        page(&Accounts {
            who,
            table,
            name: String::new(),
            role: Role::Viewer.name().to_owned(),
            email: String::new(),
            can_mail,
            mail: false,
            errors: Errors::default(),
        })
    })
    .await
}

pub(crate) async fn add(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    Form(form): Form<AccountForm>,
) -> Answer {
    let (can_mail, mail) = (state.context().settings().mailer.can_send(), form.mail);
    let (name, role, email) = (
        form.name.clone(),
        form.role.name().to_owned(),
        form.email.clone(),
    );
    let is_invited = form.password.is_empty() && form.again.is_empty();
    let new = NewAccount {
        name: form.name,
        role: form.role,
        password: (!is_invited).then_some(form.password),
        again: (!is_invited).then_some(form.again),
        email: Some(form.email),
    };
    match accounts::add(state.context(), &who.actor(), new).await {
        Ok(account) if account.invited && mail => {
            mail_link(Admin(who), State(state), headers, Path(account.id)).await
        }
        Ok(account) if account.invited => {
            let message = format!(
                "Account {} added. Make an invitation link now, by which its password is set.",
                account.name
            );
            Ok(done(&format!("/accounts/{}", account.id), message))
        }
        Ok(account) => {
            let message = format!("Account {} added.", account.name);
            Ok(done("/accounts", message))
        }
        Err(refusal) => {
            let errors = Errors::of_form(refusal)?;
            answer(&state, who, Typed::default(), |who, table| {
                form_again(&Accounts {
                    who,
                    table,
                    name,
                    role,
                    email,
                    can_mail,
                    mail,
                    errors,
                })
            })
            .await
        }
    }
}

/// A page with the list of accounts that `asked` selects.
async fn answer(
    state: &ConsoleState,
    who: Who,
    asked: Typed,
    page: impl FnOnce(Who, Shown) -> Answer,
) -> Answer {
    let filters = Filters::new(asked)
        .with(Filter::search("Search", "a part of the name"))
        .with(Filter::choice("role", "Role", ROLE_NAMES));
    let text = filters.get("text").to_lowercase();
    let role = filters.given("role");
    let own = who.account.id;
    let (state, actor) = (state.clone(), who.actor());
    let read = move |view: View| {
        let (state, actor) = (state.clone(), actor.clone());
        let (text, role) = (text.clone(), role.clone());
        async move {
            let mut all = accounts::list(state.context(), &actor).await?;
            all.retain(|account| {
                let has_role = role.as_ref().is_none_or(|role| account.role.name() == role);
                has_role && account.name.to_lowercase().contains(&text)
            });
            view.paging().page(all, ORDERS)
        }
    };
    table(filters, own).answer_in(who, read, page).await
}

fn table(filters: Filters, own: i64) -> Table<Account> {
    Table::new("/accounts", ["account", "accounts"], filters)
        .sorted_by("name", false)
        .column(
            Column::new("name", "Name", move |row: &Account| {
                let name = Cell::link(format!("/accounts/{}", row.id), Cell::text(&row.name));
                match row.id == own {
                    true => Cell::Row(vec![name, Cell::None("(you)")]),
                    false => name,
                }
            })
            .smallest_first()
            .row_heading(),
        )
        .column(
            Column::new("role", "Role", |row: &Account| Cell::text(row.role.name()))
                .largest_first(),
        )
        .column(Column::new("email", "E-mail", |row: &Account| {
            Cell::of(row.email.as_ref(), Cell::text, "none")
        }))
        .column(
            Column::new("state", "State", |row: &Account| {
                Cell::badge(match (row.disabled, row.invited) {
                    (true, _) => "disabled",
                    (false, true) => "invited",
                    (false, false) => "ok",
                })
            })
            .largest_first(),
        )
        .column(
            Column::new("created", "Created", |row: &Account| {
                Cell::Time(row.created.0)
            })
            .largest_first(),
        )
        .column(
            Column::new("last_login", "Last login", |row: &Account| {
                Cell::of(row.last_login, |login| Cell::Ago(login.0), "never")
            })
            .largest_first(),
        )
        .fields(&[
            "id",
            "name",
            "role",
            "email",
            "disabled",
            "invited",
            "created",
            "last_login",
        ])
}

const ROLE_NAMES: [(&str, &str); 4] = [
    ("", "all"),
    ("viewer", "viewer"),
    ("operator", "operator"),
    ("admin", "admin"),
];
