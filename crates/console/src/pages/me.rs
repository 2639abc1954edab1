//! `/me`: one's own account: another password, and the end of all sessions.

use std::time::Instant;

use askama::Template;
use axum::extract::State;
use serde::Deserialize;

use crate::client::Client;
use crate::dress::{done, form_again, page};
use crate::extract::Form;
use crate::filters;
use crate::parts::Errors;
use crate::people::{check_new_password, set_password};
use crate::problem::{Answer, Problem};
use crate::session;
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
    errors: Errors,
}

pub(crate) async fn show(Viewer(who): Viewer) -> Answer {
    page(&Me {
        who,
        errors: Errors::default(),
    })
}

/// `POST /me/password`: all sessions end but this one, which begins anew.
pub(crate) async fn change_password(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Client(from): Client,
    Form(passwords): Form<Passwords>,
) -> Answer {
    let mut errors = Errors::default();
    check_new_password(&passwords.password, &passwords.again, &mut errors);
    if errors.is_empty() && !knows_password(&state, &who, from, &passwords.current).await? {
        errors.add("current", "this is not your password");
    }
    if !errors.is_empty() {
        return form_again(&Me { who, errors });
    }
    let ended = set_password(&state, &who, who.account.id, &passwords.password).await?;
    let response = done(
        "/me",
        format!("Your password is changed; you are logged out elsewhere.{ended}"),
    );
    session::begin(&state, who.account.id, response).await
}

/// `POST /me/sessions`: ends all sessions but this one, which begins anew.
pub(crate) async fn end_sessions(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    state.catalog().end_sessions(who.account.id).await?;
    let subject = format!("account {}", who.account.name);
    state.audit(&who, "session.end_all", subject, None).await;
    let response = done("/me", "You are logged out everywhere else.");
    session::begin(&state, who.account.id, response).await
}

/// Whoever finds an open browser cannot try passwords here either.
async fn knows_password(
    state: &ConsoleState,
    who: &Who,
    from: std::net::IpAddr,
    password: &str,
) -> Result<bool, Problem> {
    let name = &who.account.name;
    let begun = Instant::now();
    if let Err(wait) = state.throttle().begin(name, from, begun) {
        let seconds = wait.as_secs().max(1);
        let message = format!("too many failures; wait for {seconds} s, then try again");
        return Err(Problem::too_many(wait, message));
    }
    let account = state.catalog().account_to_log_in(name).await?;
    let hash = account.map(|(_, hash)| hash);
    let fits = state.verify_password(password, hash).await?;
    if fits {
        state.throttle().succeeded(name, from, begun);
    } else {
        let (subject, details) = (format!("account {name}"), format!("from {from}"));
        state
            .audit_refusal(name, "account.password.refuse", &subject, &details)
            .await;
    }
    Ok(fits)
}
