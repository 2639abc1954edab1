//! `/setup/{token}`: adds the first account. The link is printed where garner was started, and works once.

use askama::Template;
use axum::extract::State;
use catalog::Role;
use operations::accounts::{self, NewAccount};
use operations::secret;
use serde::Deserialize;

use super::session;
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::Visit;

#[derive(Deserialize)]
pub(crate) struct Parameters {
    name: String,
    password: String,
    again: String,
}

#[derive(Template)]
#[template(path = "setup.html")]
struct Setup {
    who: Visit,
    token: String,
    name: String,
    errors: Errors,
}

pub(crate) async fn show(
    State(state): State<ConsoleState>,
    who: Visit,
    Path(token): Path<String>,
) -> Answer {
    check_token(&state, &token).await?;
    page(&Setup {
        who,
        token,
        name: String::new(),
        errors: Errors::default(),
    })
}

pub(crate) async fn create(
    State(state): State<ConsoleState>,
    who: Visit,
    Path(token): Path<String>,
    Form(parameters): Form<Parameters>,
) -> Answer {
    check_token(&state, &token).await?;
    let Parameters {
        name,
        password,
        again,
    } = parameters;
    let new = NewAccount {
        name: name.clone(),
        role: Role::Admin,
        password: Some(password),
        again: Some(again),
        email: None,
    };
    match accounts::add_first(state.context(), new).await {
        Ok(account) => {
            state.set_setup(None);
            state.catalog().logged_in(account.id).await?;
            session::begin(&state, account.id, done("/", "Welcome to garner.")).await
        }
        Err(refusal) => form_again(&Setup {
            who,
            token,
            name,
            errors: Errors::of_form(refusal)?,
        }),
    }
}

/// A link that was never given, is used, or belongs to an earlier start: the answer does not tell which.
async fn check_token(state: &ConsoleState, token: &str) -> Result<(), Problem> {
    let opens = state.opens_setup(&secret::digest(token));
    if opens && state.catalog().accounts().await?.is_empty() {
        return Ok(());
    }
    Err(Problem::not_found(
        "this link is not good any more; log in, or start garner again for another link if there is no account yet",
    ))
}
