//! The API: everything that the console does, as JSON. Its description is a file that `scripts/openapi` makes from the operations.
//!
//! An operation is a handler with `#[utoipa::path]`, in a file named for its subject, and a line in the route table. Its
//! first argument is the role. What it takes and gives are types of its own here, `Deserialize` with
//! `deny_unknown_fields` or `Serialize`, and `ToSchema`; dates are [`Time`], lists are [`Listed`].

mod described;
#[cfg(test)]
mod description;

use axum::response::{IntoResponse as _, Response};

pub(crate) use described::{Described, OPENAPI, described};
#[cfg(test)]
pub(crate) use description::Description;
pub(crate) use operations::{Listed, Time};

use crate::problem::Problem;

/// The result of an operation.
pub(crate) type Reply<T> = Result<axum::Json<T>, Problem>;

pub(crate) use operations::page_limit as limited;

/// The answer to what is done and has nothing to say.
pub(crate) fn nothing() -> Response {
    axum::http::StatusCode::NO_CONTENT.into_response()
}

/// The name of the role of an operation in the description.
const ROLE: &str = "x-role";
