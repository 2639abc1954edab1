//! `/me`: one's own account: another password, and the end of all sessions.

use std::net::IpAddr;
use std::time::Instant;

use askama::Template;
use axum::extract::State;
use operations::accounts::{self, NewEmail, NewPassword};
use operations::{TimeZone, sessions};
use serde::Deserialize;

use super::account::ended;
use super::login::throttle;
use super::session;
use crate::client::Client;
use crate::clock::Clock;
use crate::dress::{done, form_again, page};
use crate::extract::Form;
use crate::filters;
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Deserialize)]
pub(crate) struct Passwords {
    current: String,
    password: String,
    again: String,
}

#[derive(Template)]
#[template(path = "me.html")]
struct Me {
    who: Who,
    /// The name of the time zone, as it was typed.
    time_zone: String,
    /// All names there are, as suggestions.
    time_zones: Vec<String>,
    email: String,
    errors: Errors,
}

#[derive(Deserialize)]
pub(crate) struct Settings {
    time_zone: String,
}

impl Me {
    fn new(who: Who, errors: Errors) -> Self {
        Self {
            time_zone: Clock::current().zone().name().to_owned(),
            time_zones: TimeZone::names(),
            email: who.account.email.clone().unwrap_or_default(),
            who,
            errors,
        }
    }
}

pub(crate) async fn show(Viewer(who): Viewer) -> Answer {
    page(&Me::new(who, Errors::default()))
}

/// `POST /me/time-zone`
pub(crate) async fn change_time_zone(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Form(Settings { time_zone }): Form<Settings>,
) -> Answer {
    let id = who.account.id;
    match accounts::set_time_zone(state.context(), &who.actor(), id, &time_zone).await {
        Ok(account) => {
            let zone = account.time_zone.name();
            Ok(done("/me", format!("Times are now in {zone}.")))
        }
        Err(refusal) => {
            let errors = Errors::of_form(refusal)?;
            form_again(&Me {
                time_zone,
                ..Me::new(who, errors)
            })
        }
    }
}

/// `POST /me/email`
pub(crate) async fn change_email(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Form(NewEmail { email }): Form<NewEmail>,
) -> Answer {
    match accounts::set_email(state.context(), &who.actor(), who.account.id, &email).await {
        Ok(_) => Ok(done("/me", "Your e-mail address is changed.")),
        Err(refusal) => {
            let errors = Errors::of_form(refusal)?;
            form_again(&Me {
                email,
                ..Me::new(who, errors)
            })
        }
    }
}

/// `POST /me/password`: all sessions end but this one, which begins anew.
pub(crate) async fn change_password(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Client(from): Client,
    Form(passwords): Form<Passwords>,
) -> Answer {
    if !knows_password(&state, &who, from, &passwords.current).await? {
        let mut errors = Errors::default();
        errors.add("current", "wrong password");
        return form_again(&Me::new(who, errors));
    }
    let (id, new) = (
        who.account.id,
        NewPassword {
            password: passwords.password,
            again: Some(passwords.again),
        },
    );
    match accounts::set_password(state.context(), &who.actor(), id, new).await {
        Ok(set) => {
            let ended = ended(&set.ended_tokens);
            let message = format!("Your password is changed; you are logged out elsewhere.{ended}");
            session::begin(&state, id, done("/me", message)).await
        }
        Err(refusal) => form_again(&Me::new(who, Errors::of_form(refusal)?)),
    }
}

/// `POST /me/sessions`: ends all sessions but this one, which begins anew.
pub(crate) async fn end_sessions(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    sessions::end_all(state.context(), &who.actor()).await?;
    let response = done("/me", "You are logged out everywhere else.");
    session::begin(&state, who.account.id, response).await
}

/// Somebody who finds an open browser cannot try passwords here either.
async fn knows_password(
    state: &ConsoleState,
    who: &Who,
    from: IpAddr,
    password: &str,
) -> Result<bool, Problem> {
    let (name, begun) = (&who.account.name, Instant::now());
    throttle(state, name, from, begun)?;
    if sessions::verify(state.context(), name, password)
        .await?
        .is_some()
    {
        state.throttle().succeeded(name, from, begun);
        return Ok(true);
    }
    let (subject, details) = (format!("account {name}"), format!("from {from}"));
    state
        .audit_refusal(name, "account.password.refuse", &subject, &details)
        .await;
    Ok(false)
}
