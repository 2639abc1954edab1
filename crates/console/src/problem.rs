//! What goes wrong with a request, for people and for programs.
//!
//! Handlers return a [`Problem`]. What it looks like is decided in one place, [`crate::dress`]: a page in the browser,
//! JSON for the API.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use catalog::Role;

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

/// What a handler of a page returns.
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

impl From<catalog::Error> for Problem {
    fn from(error: catalog::Error) -> Self {
        use catalog::Error;
        match error {
            Error::Busy { .. } => Self::new(StatusCode::CONFLICT, "busy", error.to_string()),
            Error::Changed { .. } => Self::new(StatusCode::CONFLICT, "changed", error.to_string()),
            Error::TooLong => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too_long",
                error.to_string(),
            ),
            Error::TooManyLists => Self {
                retry_after: Some(SOON),
                ..Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "too_many_lists",
                    error.to_string(),
                )
            },
            Error::UnknownRepository { .. }
            | Error::UnknownSchedule { .. }
            | Error::UnknownJob { .. }
            | Error::UnknownRules { .. }
            | Error::UnknownAccount { .. } => Self::not_found(error.to_string()),
            Error::Database { .. } | Error::Newer { .. } | Error::NotACatalog { .. } => {
                tracing::error!("{error}");
                let problem = Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "unavailable",
                    "the catalog does not answer at the moment; the log of garner says more",
                );
                Self {
                    retry_after: Some(SOON),
                    ..problem
                }
            }
            _ => Self::conflict(error.to_string()),
        }
    }
}

impl From<anyhow::Error> for Problem {
    fn from(error: anyhow::Error) -> Self {
        let error = match error.downcast::<catalog::Error>() {
            Ok(error) => return error.into(),
            Err(error) => error,
        };
        tracing::error!("{error:#}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            format!("this went wrong here: {error:#}"),
        )
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
