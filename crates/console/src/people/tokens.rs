//! `/tokens`: one's own tokens for the API. A token is shown once, when it is added.

use askama::Template;
use axum::extract::State;
use catalog::Role;
use operations::tokens::{self, NewToken, Token};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::parts::{Confirm, Errors};
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
    tokens: Vec<Token>,
    /// The secret of a token that was just added.
    made: Option<String>,
    name: String,
    role: String,
    days: String,
    errors: Errors,
}

impl Tokens {
    async fn new(state: &ConsoleState, who: Who) -> Result<Self, Problem> {
        Ok(Self {
            tokens: tokens::list(state.context(), &who.actor()).await?,
            who,
            made: None,
            name: String::new(),
            role: Role::Viewer.name().to_owned(),
            days: "90".to_owned(),
            errors: Errors::default(),
        })
    }

    /// Roles that one can hand on.
    fn roles(&self) -> Vec<(&'static str, &'static str)> {
        let own = self.who.role;
        let roles = Role::ALL.into_iter().filter(|role| *role <= own);
        roles.map(|role| (role.name(), role.name())).collect()
    }

    fn lifetimes(&self) -> [(&'static str, &'static str); 4] {
        [
            ("30", "30 days"),
            ("90", "90 days"),
            ("365", "a year"),
            ("", "for good"),
        ]
    }
}

pub(crate) async fn list(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    page(&Tokens::new(&state, who).await?)
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
    match tokens::add(state.context(), &who.actor(), new).await {
        Ok(added) => page(&Tokens {
            made: Some(added.secret),
            ..Tokens::new(&state, who).await?
        }),
        Err(refusal) => form_again(&Tokens {
            name,
            role: role.name().to_owned(),
            days,
            errors: Errors::of_form(refusal)?,
            ..Tokens::new(&state, who).await?
        }),
    }
}

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
        verb: "Remove the token".to_owned(),
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
    let message = format!("The token {} is removed.", token.name);
    Ok(done("/tokens", message))
}
