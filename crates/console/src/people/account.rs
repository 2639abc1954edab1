//! `/accounts/{id}`: role, password and removal of an account.

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use operations::Code;
use operations::accounts::{self, Account, AccountSettings, NewEmail, NewPassword, PasswordLink};
use operations::tokens::{self, Token};

use super::session;
use crate::dress::{done, form_again, page};
use crate::extract::{Form, Path};
use crate::filters;
use crate::parts::{Confirm, Errors};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Admin, Who};

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    who: Who,
    account: Account,
    role: String,
    tokens: Vec<Token>,
    email: String,
    /// A link that was just made, with its address on this console.
    link: Option<(String, PasswordLink)>,
    /// Whether links can be sent by e-mail.
    can_mail: bool,
    errors: Errors,
}

impl AccountPage {
    async fn new(state: &ConsoleState, who: Who, id: i64) -> Result<Self, Problem> {
        let (context, actor) = (state.context(), who.actor());
        let account = accounts::show(context, &actor, id).await?;
        Ok(Self {
            tokens: tokens::list_for(context, &actor, id).await?,
            role: account.role.name().to_owned(),
            email: account.email.clone().unwrap_or_default(),
            link: None,
            can_mail: context.settings().mailer.can_send(),
            account,
            who,
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
    Form(settings): Form<AccountSettings>,
) -> Answer {
    match accounts::change(state.context(), &who.actor(), id, settings).await {
        Ok(account) => {
            let message = format!("The account {} is changed.", account.name);
            // Somebody who gave up the role admin cannot look at accounts.
            let place = match id == who.account.id {
                true => "/",
                false => "/accounts",
            };
            Ok(done(place, message))
        }
        Err(refusal) => {
            let errors = Errors::of_form(refusal)?;
            let answer = AccountPage::new(&state, who, id).await?;
            form_again(&AccountPage { errors, ..answer })
        }
    }
}

/// `POST /accounts/{id}/link`: the link is shown once.
pub(crate) async fn make_link(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Answer {
    let link = accounts::make_link(state.context(), &who.actor(), id).await?;
    let url = format!("{}{}", here(&state, &headers), link.path);
    let answer = AccountPage::new(&state, who, id).await?;
    page(&AccountPage {
        link: Some((url, link)),
        ..answer
    })
}

/// `POST /accounts/{id}/mail`: the link goes to the owner alone.
pub(crate) async fn mail_link(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Answer {
    let console = here(&state, &headers);
    match accounts::mail_link(state.context(), &who.actor(), id, &console).await {
        Ok(mailed) => {
            let message = format!("A link was sent to {}.", mailed.email);
            Ok(done(&format!("/accounts/{id}"), message))
        }
        Err(refusal) if matches!(refusal.code, Code::MailFailed | Code::Conflict) => {
            let errors = Errors::of_form(refusal.invalid_at("mail"))?;
            let answer = AccountPage::new(&state, who, id).await?;
            form_again(&AccountPage { errors, ..answer })
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The origin by which this console is reached; as the browser has it unless it is configured.
pub(crate) fn here(state: &ConsoleState, headers: &HeaderMap) -> String {
    let origin = state.config().public_origin();
    origin.unwrap_or_else(|| {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        format!("http://{}", host.unwrap_or_default())
    })
}

/// `POST /accounts/{id}/email`
pub(crate) async fn change_email(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(NewEmail { email }): Form<NewEmail>,
) -> Answer {
    match accounts::set_email(state.context(), &who.actor(), id, &email).await {
        Ok(account) => {
            let message = format!("The e-mail address of {} is changed.", account.name);
            Ok(done(&format!("/accounts/{id}"), message))
        }
        Err(refusal) => {
            let errors = Errors::of_form(refusal)?;
            let answer = AccountPage::new(&state, who, id).await?;
            form_again(&AccountPage {
                errors,
                email,
                ..answer
            })
        }
    }
}

/// `POST /accounts/{id}/password`
pub(crate) async fn change_password(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Form(new): Form<NewPassword>,
) -> Answer {
    match accounts::set_password(state.context(), &who.actor(), id, new).await {
        Ok(set) => {
            let ended = ended(&set.ended_tokens);
            let message = format!("{} has another password now.{ended}", set.account.name);
            let response = done("/accounts", message);
            match id == who.account.id {
                true => session::begin(&state, id, response).await,
                false => Ok(response),
            }
        }
        Err(refusal) => {
            let errors = Errors::of_form(refusal)?;
            let answer = AccountPage::new(&state, who, id).await?;
            form_again(&AccountPage { errors, ..answer })
        }
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
        "{} cannot log in any more; its entries stay in the audit trail.",
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
    let account = accounts::remove(state.context(), &who.actor(), id).await?;
    let message = format!("The account {} is removed.", account.name);
    Ok(done("/accounts", message))
}

/// A sentence about the tokens that ended with a password, behind another sentence.
pub(super) fn ended(tokens: &[String]) -> String {
    match tokens.is_empty() {
        true => String::new(),
        false => format!(" API tokens ended: {}.", tokens.join(", ")),
    }
}
