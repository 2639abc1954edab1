//! `GET /login` and `POST /login`.

use std::net::IpAddr;
use std::time::Instant;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect};
use operations::sessions;
use serde::Deserialize;

use super::session;
use crate::client::Client;
use crate::dress::page;
use crate::extract::{Form, Query};
use crate::parts::Errors;
use crate::problem::{Answer, Problem};
use crate::state::{ConsoleState, NOBODY};
use crate::who::{Visit, local_path};

#[derive(Deserialize)]
pub(crate) struct Place {
    next: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Credentials {
    name: String,
    password: String,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "login.html")]
struct Login {
    who: Visit,
    name: String,
    next: String,
    failure: Option<String>,
    nobody_yet: bool,
    errors: Errors,
}

pub(crate) async fn show(
    State(state): State<ConsoleState>,
    who: Visit,
    Query(place): Query<Place>,
) -> Answer {
    page(&Login {
        who,
        name: String::new(),
        next: local_path(place.next.as_deref()).to_owned(),
        failure: None,
        nobody_yet: state.catalog().accounts().await?.is_empty(),
        errors: Errors::default(),
    })
}

pub(crate) async fn enter(
    State(state): State<ConsoleState>,
    who: Visit,
    Client(from): Client,
    Form(credentials): Form<Credentials>,
) -> Answer {
    let Credentials {
        name,
        password,
        next,
    } = credentials;
    let (name, next) = (name.trim(), local_path(next.as_deref()));
    let begun = Instant::now();
    if let Err(problem) = throttle(&state, name, from, begun) {
        // Without the name, which is another one each time where names are tried.
        let details = format!("from {from}");
        state
            .audit_refusal(NOBODY, "session.throttle", "too many failures", &details)
            .await;
        return Err(problem);
    }
    let account = sessions::verify(state.context(), name, &password).await?;
    let Some(account) = account else {
        tracing::warn!(%from, name, "failed to log in to the console");
        let (subject, details) = (format!("account {name}"), format!("from {from}"));
        state
            .audit_refusal(NOBODY, "session.refuse", &subject, &details)
            .await;
        let mut response = page(&Login {
            who,
            name: name.to_owned(),
            next: next.to_owned(),
            failure: Some("Wrong name or password.".to_owned()),
            nobody_yet: false,
            errors: Errors::default(),
        })?;
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
        return Ok(response);
    };
    state.throttle().succeeded(name, from, begun);
    sessions::log_in(state.context(), &account, from).await?;
    session::begin(&state, account.id, Redirect::to(next).into_response()).await
}

/// Refuses to check a password after too many failures.
pub(super) fn throttle(
    state: &ConsoleState,
    name: &str,
    from: IpAddr,
    begun: Instant,
) -> Result<(), Problem> {
    state.throttle().begin(name, from, begun).map_err(|wait| {
        let seconds = wait.as_secs().max(1);
        let message = format!("too many failures; wait for {seconds} s, then try again");
        Problem::too_many(wait, message)
    })
}
