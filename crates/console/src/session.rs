//! Beginning a session, once it is known who it is.

use axum::http::header::SET_COOKIE;
use axum::response::Response;

use crate::cookies::Name;
use crate::problem::Problem;
use crate::secret;
use crate::state::ConsoleState;

/// Begins a session of an account, and gives its cookie along with a response.
pub(crate) async fn begin(
    state: &ConsoleState,
    account: i64,
    mut response: Response,
) -> Result<Response, Problem> {
    let (secret, lifetime) = (secret::random()?, state.config().session_lifetime());
    let catalog = state.catalog();
    catalog.remove_old_sessions().await?;
    catalog
        .begin_session(&secret::digest(&secret), account, lifetime)
        .await?;
    let cookie = state
        .cookies()
        .set(Name::Session, &secret, lifetime.as_secs());
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}
