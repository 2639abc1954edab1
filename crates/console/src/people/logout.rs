//! `POST /logout`: ends the session here.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use operations::sessions;

use crate::cookies::Name;
use crate::dress::done;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Viewer;

pub(crate) async fn leave(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    headers: HeaderMap,
) -> Answer {
    let cookies = state.cookies();
    if let Some(session) = cookies.read(&headers, Name::Session) {
        sessions::end(state.context(), &who.actor(), session).await?;
    }
    let mut response = done("/login", "You are logged out.");
    if let Some(cookie) = cookies.set(Name::Session, "", 0) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}
