//! Lists of any length, read page by page.

use std::io::{IsTerminal, stdout};

use operations::{Listed, MAX_LIMIT, Refusal};

/// The rows that are printed at most: `given`, or else `default` on a terminal and all of them elsewhere.
pub(crate) fn limit(given: Option<u64>, default: u64, json: bool) -> u64 {
    match given {
        Some(limit) => limit,
        None if json || !stdout().is_terminal() => u64::MAX,
        None => default,
    }
}

/// Calls `each` for at most `limit` rows, and returns how many there were. `page` gets the `next` of the page before and
/// the rows that are wanted.
pub(crate) fn each_row<T>(
    limit: u64,
    mut page: impl FnMut(Option<i64>, Option<u64>) -> Result<Listed<T>, Refusal>,
    mut each: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let (mut rows, mut next) = (0, None);
    while rows < limit {
        let listed = page(next, Some((limit - rows).min(MAX_LIMIT)))?;
        for row in listed.items {
            rows += 1;
            each(row)?;
        }
        next = listed.next;
        if next.is_none() {
            break;
        }
    }
    Ok(rows)
}
