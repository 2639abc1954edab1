//! Beginning a session, once it is known who it is.

use axum::http::header::SET_COOKIE;
use axum::response::Response;
use operations::sessions;

use crate::cookies::Name;
use crate::problem::Problem;
use crate::state::ConsoleState;

/// Begins a session of an account, and gives its cookie along with a response.
pub(super) async fn begin(
    state: &ConsoleState,
    account: i64,
    mut response: Response,
) -> Result<Response, Problem> {
    let lifetime = state.config().session_lifetime();
    let secret = sessions::begin(state.context(), account, lifetime).await?;
    let cookies = state.cookies();
    let cookie = cookies.set(Name::Session, &secret, lifetime.as_secs());
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}
