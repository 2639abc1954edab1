//! Lists of any length, read page by page.

use std::io::{IsTerminal, stdout};

use operations::{Listed, MAX_LIMIT, Refusal};

use crate::table::say_rest;

/// The rows that are printed at most: `given`, or else `default` on a terminal and all of them elsewhere.
pub(crate) fn limit(given: Option<u64>, default: u64, json: bool) -> u64 {
    match given {
        Some(limit) => limit,
        None if json || !stdout().is_terminal() => u64::MAX,
        None => default,
    }
}

/// How far a list was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The rows that were read.
    pub(crate) shown: u64,
    /// All rows, where the list says so exactly.
    pub(crate) total: Option<u64>,
    /// Whether there are more.
    pub(crate) has_more: bool,
}

impl Rows {
    /// Says on a terminal that there is more than was shown.
    pub(crate) fn say_rest(self, limit_option: &str) {
        if stdout().is_terminal() {
            say_rest(self.shown, self.total, self.has_more, limit_option);
        }
    }
}

/// Calls `each` for at most `limit` rows, and returns how far the list was read. `page` gets the `next` of the page before and
/// the rows that are wanted.
pub(crate) fn each_row<T>(
    limit: u64,
    mut page: impl FnMut(Option<i64>, Option<u64>) -> Result<Listed<T>, Refusal>,
    mut each: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<Rows> {
    let (mut rows, mut next) = (Rows::default(), None);
    while rows.shown < limit {
        let listed = page(next, Some((limit - rows.shown).min(MAX_LIMIT)))?;
        if !listed.is_more {
            rows.total = rows.total.or(listed.total);
        }
        for row in listed.items {
            rows.shown += 1;
            each(row)?;
        }
        next = listed.next;
        rows.has_more = next.is_some();
        if next.is_none() {
            break;
        }
    }
    Ok(rows)
}
