//! Failures of requests, for people and for programs.
//!
//! Handlers return a [`Problem`]. What it looks like is decided in one place, [`crate::dress`]: a page in the browser,
//! JSON for the API.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use catalog::Role;
use operations::{Code, Refusal};

/// Why a request is not answered as it was meant.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// A word for programs, such as `not_found`.
    pub(crate) code: &'static str,
    /// A sentence for people: the culprit and the remedy.
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
}

/// The result of a page's handler.
pub(crate) type Answer = Result<Response, Problem>;

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            retry_after: None,
        }
    }

    /// The heading of its page.
    pub(crate) fn heading(&self) -> &'static str {
        match self.status {
            StatusCode::UNPROCESSABLE_ENTITY | StatusCode::BAD_REQUEST => "This cannot be done so",
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::GONE => "No longer there",
            StatusCode::FORBIDDEN => "Not allowed",
            StatusCode::CONFLICT => "Nothing was changed",
            StatusCode::SERVICE_UNAVAILABLE => "Not available at the moment",
            StatusCode::TOO_MANY_REQUESTS => "Too many requests",
            StatusCode::INTERNAL_SERVER_ERROR => "Something went wrong",
            other => other.canonical_reason().unwrap_or("Problem"),
        }
    }

    /// Nobody is logged in, and no token was given.
    pub(crate) fn anonymous() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthenticated",
            "log in first, or send a token as `Authorization: Bearer …`",
        )
    }

    /// The role does not allow it.
    pub(crate) fn forbidden(needed: Role, own: Role) -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            format!(
                "this needs the role {}, yours is {}; an admin can change that",
                needed.name(),
                own.name()
            ),
        )
    }

    /// There is no such thing; say what was looked for.
    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", what)
    }

    /// The request itself is wrong.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
    }

    /// It does not go with what is there now.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    /// Too much is asked at a time.
    pub(crate) fn too_many(wait: Duration, message: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message);
        Self {
            retry_after: Some(wait),
            ..problem
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.message();
        let (status, retry_after) = match refusal.code {
            Code::Invalid | Code::NoRepository => (StatusCode::UNPROCESSABLE_ENTITY, None),
            Code::MailFailed => (StatusCode::BAD_GATEWAY, None),
            Code::NotFound => (StatusCode::NOT_FOUND, None),
            Code::Gone => (StatusCode::GONE, None),
            Code::Forbidden => (StatusCode::FORBIDDEN, None),
            Code::Conflict | Code::Changed | Code::Busy => (StatusCode::CONFLICT, None),
            Code::TooLong => (StatusCode::SERVICE_UNAVAILABLE, None),
            Code::TooManyLists | Code::Overloaded => (StatusCode::SERVICE_UNAVAILABLE, Some(SOON)),
            Code::FilesLeft | Code::Unavailable | Code::Internal => {
                log_failure(refusal.code, &message)
            }
        };
        let message = match refusal.code {
            Code::Unavailable => UNAVAILABLE.to_owned(),
            Code::Internal => format!("this went wrong here: {message}"),
            _ => message,
        };
        Self {
            retry_after,
            ..Self::new(status, refusal.code.name(), message)
        }
    }
}

/// Logs the failure of a machine; its details are not for visitors.
fn log_failure(code: Code, message: &str) -> (StatusCode, Option<Duration>) {
    tracing::error!("{message}");
    match code {
        Code::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, Some(SOON)),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, None),
    }
}

impl From<catalog::Error> for Problem {
    fn from(error: catalog::Error) -> Self {
        Refusal::from(error).into()
    }
}

impl From<anyhow::Error> for Problem {
    fn from(error: anyhow::Error) -> Self {
        Refusal::from(error).into()
    }
}

impl From<askama::Error> for Problem {
    fn from(error: askama::Error) -> Self {
        Self::from(anyhow::Error::from(error))
    }
}

impl From<tokio::task::JoinError> for Problem {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::from(anyhow::Error::from(error))
    }
}

/// A database that is away mostly is back after a moment.
const SOON: Duration = Duration::from_secs(10);
const UNAVAILABLE: &str = "the catalog does not answer at the moment; the log of garner says more";
