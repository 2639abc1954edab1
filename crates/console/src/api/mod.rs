//! The API: everything that the console does, as JSON. Its description is made from the operations themselves.
//!
//! An operation is a handler with `#[utoipa::path]`, in a file named for its subject, and a line in the route table. Its
//! first argument is the role. What it takes and gives are types of its own here, `Deserialize` with
//! `deny_unknown_fields` or `Serialize`, and `ToSchema`; dates are [`Time`], lists are [`Listed`].

#![expect(
    unused_qualifications,
    reason = "the macro of utoipa names the parameters of queries in full"
)]

pub(crate) mod accounts;
pub(crate) mod audit;
mod description;
pub(crate) mod documents;
mod harvest_parameters;
pub(crate) mod history;
pub(crate) mod imports;
pub(crate) mod jobs;
pub(crate) mod me;
pub(crate) mod records;
pub(crate) mod repositories;
pub(crate) mod rules;
pub(crate) mod schedules;
pub(crate) mod statistics;
mod time;
pub(crate) mod tokens;

use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use description::{Described, describe, description, operations_of};
pub(crate) use time::Time;

use crate::problem::Problem;

/// What an operation returns.
pub(crate) type Reply<T> = Result<axum::Json<T>, Problem>;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Listed<T> {
    /// The rows.
    pub(crate) items: Vec<T>,
    /// What to give as `before` (or as `offset`, where that is the parameter) for the next page; not there on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<i64>,
    /// How many rows there are in all, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<u64>,
}

impl<T> Listed<T> {
    /// All rows there are.
    pub(crate) fn all<R: Into<T>>(rows: Vec<R>) -> Self {
        Self {
            total: Some(rows.len() as u64),
            items: rows.into_iter().map(Into::into).collect(),
            next: None,
        }
    }

    /// A page of at most `limit` rows, made from one row more if there is one.
    pub(crate) fn page<R: Into<T>>(mut rows: Vec<R>, limit: u64, id: impl Fn(&R) -> i64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let is_more = rows.len() > limit;
        rows.truncate(limit);
        Self {
            next: rows.last().filter(|_| is_more).map(id),
            items: rows.into_iter().map(Into::into).collect(),
            total: None,
        }
    }
}

/// How many rows a page has: as many as were asked for, within bounds.
pub(crate) fn limited(asked: Option<u64>) -> u64 {
    asked.unwrap_or(100).clamp(1, 1000)
}

/// The answer to what is done and has nothing to say.
pub(crate) fn nothing() -> Response {
    axum::http::StatusCode::NO_CONTENT.into_response()
}
