//! `/tokens`: one's own tokens for the API. A token is shown once, when it is made.

use askama::Template;
use axum::extract::State;
use catalog::{Role, Token};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::parts::{Confirm, Errors};
use crate::people::{add_token, check_name, remove_token};
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
    /// The secret of the one that was just made.
    made: Option<String>,
    name: String,
    role: String,
    days: String,
    errors: Errors,
}

impl Tokens {
    async fn new(state: &ConsoleState, who: Who) -> Result<Self, Problem> {
        Ok(Self {
            tokens: state.catalog().tokens(Some(who.account.id)).await?,
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
    Form(parameters): Form<Parameters>,
) -> Answer {
    let mut errors = Errors::default();
    let name = parameters.name.trim();
    check_name(name, &mut errors);
    let days = match parameters.days.as_str() {
        "" => None,
        days => days.parse().ok().filter(|days| (1..=3650).contains(days)),
    };
    if days.is_none() && !parameters.days.is_empty() {
        errors.add("days", "give a number of days from 1 to 3650");
    }
    if !errors.is_empty() {
        let mut answer = Tokens::new(&state, who).await?;
        answer.name = name.to_owned();
        answer.role = parameters.role.name().to_owned();
        answer.days = parameters.days;
        answer.errors = errors;
        return form_again(&answer);
    }
    let (_, secret) = add_token(&state, &who, name, parameters.role, days).await?;
    let mut answer = Tokens::new(&state, who).await?;
    answer.made = Some(secret);
    page(&answer)
}

/// `GET /tokens/{id}/remove`
pub(crate) async fn confirm_removal(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let tokens = state.catalog().tokens(Some(who.account.id)).await?;
    let token = tokens.into_iter().find(|token| token.id == id);
    let token = token.ok_or_else(|| Problem::not_found("you have no such token"))?;
    page(&Confirm {
        who,
        question: format!("Remove the token {}?", token.name),
        losses: vec!["Programs that use it cannot ask the API any more.".to_owned()],
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
    let token = remove_token(&state, &who, id).await?;
    Ok(done(
        "/tokens",
        format!("The token {} is removed.", token.name),
    ))
}
