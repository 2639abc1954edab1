//! `/setup/{token}`: makes the first account. The link is printed where garner was started, and works once.

use askama::Template;
use axum::extract::State;
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::parts::Errors;
use crate::people::{check_name, check_new_password};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::Visit;
use crate::{secret, session};

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
    let mut errors = Errors::default();
    let name = parameters.name.trim();
    check_name(name, &mut errors);
    check_new_password(&parameters.password, &parameters.again, &mut errors);
    if !errors.is_empty() {
        return form_again(&Setup {
            who,
            token,
            name: name.to_owned(),
            errors,
        });
    }
    let hash = state.hash_password(&parameters.password).await?;
    let account = state.catalog().add_first_account(name, &hash).await?;
    state.set_setup(None);
    let subject = format!("account {name}");
    let details = Some("the first account, by the link from the terminal".to_owned());
    state
        .audit_name(name, "account.add", subject, details)
        .await;
    session::begin(&state, account.id, done("/", "Welcome to garner.")).await
}

/// A link that was never given, is used, or belongs to an earlier start: all the same to whoever tries.
async fn check_token(state: &ConsoleState, token: &str) -> Result<(), Problem> {
    let opens = state.opens_setup(&secret::digest(token));
    if opens && state.catalog().accounts().await?.is_empty() {
        return Ok(());
    }
    Err(Problem::not_found(
        "this link is not good any more; log in, or start garner again for another link if there is no account yet",
    ))
}
