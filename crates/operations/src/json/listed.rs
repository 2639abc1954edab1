//! Pages of lists.

use serde::Serialize;
use utoipa::ToSchema;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct Listed<T> {
    /// The rows.
    pub items: Vec<T>,
    /// The value of `before` (or of `offset`, where that is the parameter) for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
    /// The number of rows in all, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more rows than `total`: they are counted up to 10,000.
    #[serde(skip_serializing_if = "is_false")]
    pub is_more: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands references over"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl<T> Listed<T> {
    /// No rows.
    pub fn none() -> Self {
        Self {
            items: Vec::new(),
            next: None,
            total: None,
            is_more: false,
        }
    }

    /// All rows there are.
    pub fn all<R: Into<T>>(rows: Vec<R>) -> Self {
        Self {
            total: Some(rows.len() as u64),
            items: rows.into_iter().map(Into::into).collect(),
            ..Self::none()
        }
    }

    /// A page of at most `limit` rows, made from one row more if there is one. `id` gives the number of a row.
    pub fn page<R: Into<T>>(mut rows: Vec<R>, limit: u64, id: impl Fn(&R) -> i64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let is_more = rows.len() > limit;
        rows.truncate(limit);
        Self {
            next: rows.last().filter(|_| is_more).map(id),
            items: rows.into_iter().map(Into::into).collect(),
            ..Self::none()
        }
    }
}

/// The rows of a page: `asked` within bounds, or the default.
pub fn page_limit(asked: Option<u64>) -> u64 {
    asked.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
}

/// Rows of a page of the API where the request does not say.
pub const DEFAULT_LIMIT: u64 = 100;
/// Rows of a page of the API at most.
pub const MAX_LIMIT: u64 = 1000;
