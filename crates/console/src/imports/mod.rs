//! Imports: what pages and API do alike. Every change ends up in the audit trail.

mod form;
mod rules;

use catalog::{ImportCounters, ImportEntry, Job, NewJob, URGENT};
use jobs::ImportCrawl;

pub(crate) use self::form::{CONTENT_FILTER, DIGESTS, ImportForm, VERSIONS, opened};
pub use self::rules::ImportRules;
pub(crate) use self::rules::{Refusal, permitted, refusal};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Who;

/// The import with this number.
pub(crate) async fn import(state: &ConsoleState, id: i64) -> Result<ImportEntry, Problem> {
    let found = state.catalog().import(id).await?;
    found.ok_or_else(|| Problem::not_found(format!("there is no import {id}")))
}

/// Puts an import into the queue, before those that are due by themselves; it has been checked.
pub(crate) async fn add(
    state: &ConsoleState,
    who: &Who,
    order: &ImportCrawl,
    run_at: Option<i64>,
) -> Result<Job, Problem> {
    // A machine that does not see the files may still order what others do.
    let listing = order.clone();
    let listed = tokio::task::spawn_blocking(move || {
        let mut order = listing;
        let _ = order.list_sources();
        order
    });
    let listed = listed.await.map_err(anyhow::Error::from)?;
    let new = NewJob {
        run_at,
        priority: URGENT,
        max_attempts: jobs::ATTEMPTS,
        created_by: Some(who.account.name.clone()),
        ..NewJob::import(listed.text()?)
    };
    let job = state.catalog().add_job(&new).await?;
    let subject = format!("job {} (import)", job.id);
    let named = order.files().into_iter();
    let named: Vec<_> = named.map(|(_, path)| path.display().to_string()).collect();
    let details = Some(named.join(", "));
    state.audit(who, "job.add", subject, details).await;
    Ok(job)
}

/// What is imported, in a few words.
pub(crate) fn described(order: &ImportCrawl) -> String {
    let mut named = order.paths.iter().chain(&order.log);
    let Some(first) = named.next() else {
        return "nothing".to_owned();
    };
    match named.count() {
        0 => first.display().to_string(),
        more => format!("{} and {more} more", first.display()),
    }
}

/// What was counted, by name; what is not there is left out.
pub(crate) fn counted(counters: &ImportCounters) -> Vec<(String, u64)> {
    let Ok(serde_json::Value::Object(counters)) = serde_json::to_value(counters) else {
        return Vec::new();
    };
    let counts = counters.into_iter();
    let counts = counts.filter_map(|(name, count)| Some((name, count.as_u64()?)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// So many skipped things are shown at once.
pub(crate) const WARNINGS_AT_ONCE: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_has_the_names_of_the_original() {
        let counters = ImportCounters {
            all: 3,
            saved_new: 2,
            ..ImportCounters::default()
        };

        let counted = counted(&counters);

        assert_eq!(
            counted,
            [("all".to_owned(), 3), ("saved_New".to_owned(), 2)]
        );
    }
}
