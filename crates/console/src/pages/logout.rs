//! `POST /logout`: ends the session here.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;

use crate::cookies::Name;
use crate::dress::done;
use crate::problem::Answer;
use crate::secret;
use crate::state::ConsoleState;
use crate::who::Viewer;

pub(crate) async fn leave(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    headers: HeaderMap,
) -> Answer {
    let cookies = state.cookies();
    if let Some(session) = cookies.read(&headers, Name::Session) {
        let digest = secret::digest(session);
        state.catalog().end_session(&digest).await?;
        let subject = format!("account {}", who.account.name);
        state.audit(&who, "session.end", subject, None).await;
    }
    let mut response = done("/login", "You are logged out.");
    if let Some(cookie) = cookies.set(Name::Session, "", 0) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}
