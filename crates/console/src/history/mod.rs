//! The history: what pages and API do alike. What is removed ends up in the audit trail.

mod comparison;
mod csv;
mod filter;
mod words;

use catalog::HistoryEntry;

pub(crate) use self::comparison::{Comparison, Line};
pub(crate) use self::csv::csv;
pub(crate) use self::filter::HistoryFilter;
pub(crate) use self::words::{counts, parameters, quirks, retention};

use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Who;

/// The entry with this number.
pub(crate) async fn entry(state: &ConsoleState, id: i64) -> Result<HistoryEntry, Problem> {
    let entry = state.catalog().history_entry(id).await?;
    entry.ok_or_else(|| {
        Problem::not_found(format!(
            "there is no harvest with the number {id}; it may have been removed"
        ))
    })
}

/// Whether the next incremental harvest would have to begin anew without this entry.
pub(crate) async fn is_built_upon(
    state: &ConsoleState,
    entry: &HistoryEntry,
) -> Result<bool, Problem> {
    let prefix = &entry.metadata_prefix;
    let last = state
        .catalog()
        .last_finished(entry.repository, prefix, entry.set.as_deref())
        .await?;
    Ok(last.is_some_and(|last| last.id == entry.id))
}

/// Removes entries that are not running, and tells how many.
pub(crate) async fn remove(state: &ConsoleState, who: &Who, ids: &[i64]) -> Result<u64, Problem> {
    let mut removed = Vec::new();
    for id in ids {
        if state.catalog().remove_history_entry(*id).await? {
            removed.push(id.to_string());
        }
    }
    if !removed.is_empty() {
        let subject = format!("harvest {}", removed.join(", "));
        state.audit(who, "history.remove", subject, None).await;
    }
    Ok(removed.len() as u64)
}

/// Removes entries that ended longer ago than so many days, but for those that later harvests build upon.
pub(crate) async fn remove_old(state: &ConsoleState, who: &Who, days: u32) -> Result<u64, Problem> {
    let seconds = i64::from(days) * 86_400;
    let removed = state.catalog().remove_history(seconds, true).await?;
    let subject = format!("harvests older than {days} days");
    let details = Some(format!("{removed} removed"));
    state.audit(who, "history.remove", subject, details).await;
    Ok(removed)
}
