//! `/password/{token}`: sets a password by a link from an admin: an invitation, or for a password that was forgotten.

use askama::Template;
use axum::extract::State;
use operations::accounts::{self, Account, NewPassword};

use super::session;
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::parts::Errors;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Visit;

#[derive(Template)]
#[template(path = "password_link.html")]
struct LinkPage {
    who: Visit,
    token: String,
    account: Account,
    errors: Errors,
}

pub(crate) async fn show(
    State(state): State<ConsoleState>,
    who: Visit,
    Path(token): Path<String>,
) -> Answer {
    let account = accounts::of_link(state.context(), &token).await?;
    page(&LinkPage {
        who,
        token,
        account,
        errors: Errors::default(),
    })
}

pub(crate) async fn save(
    State(state): State<ConsoleState>,
    who: Visit,
    Path(token): Path<String>,
    Form(new): Form<NewPassword>,
) -> Answer {
    let account = accounts::of_link(state.context(), &token).await?;
    match accounts::set_password_by_link(state.context(), &token, new).await {
        Ok(account) => {
            let message = format!("Welcome, {}.", account.name);
            session::begin(&state, account.id, done("/", message)).await
        }
        Err(refusal) => form_again(&LinkPage {
            who,
            token,
            account,
            errors: Errors::of_form(refusal)?,
        }),
    }
}
