//! `/accounts/{id}`: what somebody may do, another password, and the way out.

use askama::Template;
use axum::extract::State;
use catalog::{Account, Role, Token};
use serde::Deserialize;

use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::parts::{Confirm, Errors};
use crate::people::{account, change_account, check_new_password, remove_account, set_password};
use crate::problem::{Answer, Problem};
use crate::session;
use crate::state::ConsoleState;
use crate::who::{Admin, Who};

#[derive(Deserialize)]
pub(crate) struct Settings {
    role: Role,
    #[serde(default)]
    disabled: bool,
}

#[derive(Deserialize)]
pub(crate) struct Password {
    password: String,
    again: String,
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    who: Who,
    account: Account,
    role: String,
    tokens: Vec<Token>,
    errors: Errors,
}

impl AccountPage {
    async fn new(state: &ConsoleState, who: Who, id: i64) -> Result<Self, Problem> {
        let account = account(state, id).await?;
        Ok(Self {
            who,
            role: account.role.name().to_owned(),
            account,
            tokens: state.catalog().tokens(Some(id)).await?,
            errors: Errors::default(),
        })
    }
}

pub(crate) async fn show(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    page(&AccountPage::new(&state, who, id).await?)
}

pub(crate) async fn change(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(settings): Form<Settings>,
) -> Answer {
    let Settings { role, disabled } = settings;
    match change_account(&state, &who, id, role, disabled).await {
        Ok(account) => {
            let message = format!("The account {} is changed.", account.name);
            // Who is no admin any more cannot look at accounts.
            let place = match id == who.account.id {
                true => "/",
                false => "/accounts",
            };
            Ok(done(place, message))
        }
        Err(problem) if problem.code == "conflict" => {
            let mut answer = AccountPage::new(&state, who, id).await?;
            answer.errors.add("role", problem.message);
            form_again(&answer)
        }
        Err(problem) => Err(problem),
    }
}

/// `POST /accounts/{id}/password`
pub(crate) async fn change_password(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(Password { password, again }): Form<Password>,
) -> Answer {
    let mut answer = AccountPage::new(&state, who, id).await?;
    check_new_password(&password, &again, &mut answer.errors);
    if !answer.errors.is_empty() {
        return form_again(&answer);
    }
    let ended = set_password(&state, &answer.who, id, &password).await?;
    let name = &answer.account.name;
    let response = done(
        "/accounts",
        format!("{name} has another password now.{ended}"),
    );
    match id == answer.who.account.id {
        true => session::begin(&state, id, response).await,
        false => Ok(response),
    }
}

/// `GET /accounts/{id}/remove`
pub(crate) async fn confirm_removal(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let AccountPage {
        who,
        account,
        tokens,
        ..
    } = AccountPage::new(&state, who, id).await?;
    let mut losses = vec![format!(
        "{} cannot log in any more; what it did stays in the audit trail.",
        account.name
    )];
    if !tokens.is_empty() {
        let names: Vec<_> = tokens.iter().map(|token| token.name.as_str()).collect();
        losses.push(format!("Its tokens end: {}.", names.join(", ")));
    }
    page(&Confirm {
        who,
        question: format!("Remove the account {}?", account.name),
        losses,
        verb: "Remove the account".to_owned(),
        action: format!("/accounts/{id}/remove"),
        back: format!("/accounts/{id}"),
    })
}

/// `POST /accounts/{id}/remove`
pub(crate) async fn remove(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let account = remove_account(&state, &who, id).await?;
    let message = format!("The account {} is removed.", account.name);
    Ok(done("/accounts", message))
}
