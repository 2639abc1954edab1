//! How an import ends, and its job with it.

use super::entry::find;
use super::{Import, ImportCounters, ImportEntry, ImportState};
use crate::queue::ends::end_with_work;
use crate::{Catalog, Error, JobEnd, NewJob};

/// How an import ends.
#[derive(Debug, Clone)]
pub struct FinishImport {
    /// `Ok`, `Incomplete` or `Failed`.
    pub state: ImportState,
    /// Why it failed or what was left out.
    pub reason: Option<String>,
    /// The counts since the last group.
    pub counters: ImportCounters,
    /// How its job ends, in the same moment; without it the job goes on.
    pub job: Option<JobEnd>,
    /// Jobs that follow; not put into the queue if the job of this import is tried again.
    pub follow_ups: Vec<NewJob>,
}

impl FinishImport {
    /// An import that came to this end, and its job to none.
    pub fn new(state: ImportState) -> Self {
        Self {
            state,
            reason: None,
            counters: ImportCounters::default(),
            job: None,
            follow_ups: Vec::new(),
        }
    }
}

impl Catalog {
    /// Ends an import, and its job with it. One that failed can be gone on with.
    pub async fn finish_import(
        &self,
        import: Import,
        finish: &FinishImport,
    ) -> Result<ImportEntry, Error> {
        let mut transaction = self.database.write().await?;
        import.lease.keep(&mut transaction).await?;
        // A commit whose answer was lost was made all the same, so that what is in memory may be less.
        let committed = find(&mut transaction, import.id()).await?;
        let committed = committed.ok_or(Error::ImportLost {
            import: import.id(),
        })?;
        let mut counters = committed.counters;
        counters += finish.counters;
        let sql = "UPDATE import SET state = $2, ended = {now}, reason = $3, counters = $4, pinned = NULL,
                 lease_until = {now}, reserved = CASE WHEN $2 IN ('failed', 'cancelled') THEN reserved END,
                 superfluous = CASE WHEN $2 IN ('failed', 'cancelled') THEN superfluous END
             WHERE id = $1";
        let values = [
            import.id().into(),
            finish.state.name().into(),
            finish.reason.as_deref().into(),
            written(&counters).into(),
        ];
        transaction.execute(sql, values).await?;
        if let (Some(lease), Some(_)) = (import.lease.job, &finish.job) {
            // The last beat may be a while ago, and a short import has none.
            let is_done = matches!(finish.state, ImportState::Ok | ImportState::Incomplete);
            let read: u64 = committed.sources.iter().map(|source| source.position).sum();
            let sql = "UPDATE job SET progress_note = $2,
                     progress_total = CASE WHEN $3 = 1 THEN COALESCE(progress_total, $4) ELSE progress_total END,
                     progress_done = CASE WHEN $3 = 1 THEN COALESCE(progress_total, $4) ELSE progress_done END
                 WHERE id = $1";
            let values = [
                lease.job.into(),
                counters.in_words().into(),
                is_done.into(),
                read.into(),
            ];
            transaction.execute(sql, values).await?;
        }
        let (end, follow_ups) = (finish.job.as_ref(), &finish.follow_ups);
        end_with_work(&mut transaction, &import.lease, end, follow_ups).await?;
        let entry = find(&mut transaction, import.id()).await?;
        transaction.commit().await?;
        entry.ok_or(Error::ImportLost {
            import: import.id(),
        })
    }
}

/// Counters as they stand in the catalog.
pub(super) fn written(counters: &ImportCounters) -> String {
    serde_json::to_string(counters).expect("numbers can be written")
}
