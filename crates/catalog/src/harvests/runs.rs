//! Harvests that run: kept alive, taken over, ended. How they begin is in `begin`.
//!
//! A run is the row of its history entry, and has its lease.

use std::time::Duration;

use crate::database::bounded::bounded;
use crate::database::{Transaction, Value};
use crate::harvests::history::{SELECT, entry};
use crate::queue::ends::end_with_work;
use crate::queue::lease::Lease;
use crate::repositories::entry::lock;
use crate::{Catalog, Counts, Error, HistoryEntry, JobEnd, JobLease, NewJob, State};

/// A harvest to begin.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// The number of the repository.
    pub repository: i64,
    /// The format.
    pub metadata_prefix: String,
    /// The set, or all.
    pub set: Option<String>,
    /// Everything else that was asked for, as JSON, for the history.
    pub parameters: String,
    /// The harvest to go on with; see [`Catalog::unfinished`].
    pub resume: Option<i64>,
    /// How long nobody else may take it over without hearing of this process.
    pub lease: Duration,
    /// The job that it belongs to, as this worker has it.
    pub job: Option<JobLease>,
}

/// A harvest that this process holds.
#[derive(Debug)]
pub struct Run {
    pub(crate) lease: Lease,
    pub(crate) repository: i64,
    pub(crate) metadata_prefix: String,
    pub(crate) counts: Counts,
    pub(crate) resume_state: Option<String>,
}

/// How a harvest ends.
#[derive(Debug, Clone)]
pub struct Finish {
    /// `Ok`, `Incomplete`, `Failed` or `Cancelled`.
    pub state: State,
    /// Why it failed or what was left out.
    pub reason: Option<String>,
    /// The `from` of the next harvest, if this one can be built upon.
    pub next_from: Option<String>,
    /// The oddities that were tolerated, as JSON; `None` leaves those that were committed with the pages.
    pub quirks: Option<String>,
    /// The counts since the last page.
    pub counts: Counts,
    /// How its job ends, in the same moment; without it the job goes on.
    pub job: Option<JobEnd>,
    /// Jobs that follow; not put into the queue if the job of this harvest is tried again.
    pub follow_ups: Vec<NewJob>,
}

/// Rows of one harvest after another, the newest first.
const OF_TARGET: &str = "history.repository_id = $1 AND metadata_prefix = $2 AND set_spec = $3";

impl NewRun {
    /// Everything of a repository in one format.
    pub fn new(repository: i64, metadata_prefix: impl Into<String>) -> Self {
        Self {
            repository,
            metadata_prefix: metadata_prefix.into(),
            set: None,
            parameters: "{}".to_owned(),
            resume: None,
            lease: Duration::from_secs(120),
            job: None,
        }
    }
}

impl Run {
    /// The number of its history entry.
    pub fn id(&self) -> i64 {
        self.lease.id
    }

    /// How often it was begun or taken over: no two processes that hold it one after the other have the same number.
    pub fn fence(&self) -> i64 {
        self.lease.token
    }

    /// Where to go on, as it was committed with the last page.
    pub fn resume_state(&self) -> Option<&str> {
        self.resume_state.as_deref()
    }

    /// The counts so far, also from before it was resumed.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The repository and the format whose records it writes.
    pub(crate) fn target(&self) -> (i64, &str) {
        (self.repository, &self.metadata_prefix)
    }

    pub(crate) fn committed(&mut self, counts: Counts, resume_state: Option<&str>) {
        self.counts += counts;
        self.resume_state = resume_state.map(Into::into);
    }
}

impl Catalog {
    /// The last harvest of the same, if it did not come to its end and has committed something.
    ///
    /// It may still be running elsewhere; `begin` finds out.
    pub async fn unfinished(
        &self,
        repository: i64,
        metadata_prefix: &str,
        set: Option<&str>,
    ) -> Result<Option<HistoryEntry>, Error> {
        let sql = format!("{SELECT} WHERE {OF_TARGET} ORDER BY history.id DESC LIMIT 1");
        let values = target(repository, metadata_prefix, set);
        let row = self.database.read().await?.row(&sql, values).await?;
        let entry = row.as_ref().map(entry).transpose()?;
        Ok(entry.filter(|entry| {
            (entry.state == State::Running || entry.state.is_unfinished())
                && entry.resume_state.is_some()
        }))
    }

    /// The last harvest of the same that the next one can build upon: it came to its end and has a `next_from`.
    pub async fn last_finished(
        &self,
        repository: i64,
        metadata_prefix: &str,
        set: Option<&str>,
    ) -> Result<Option<HistoryEntry>, Error> {
        let sql = format!(
            "{SELECT} WHERE {OF_TARGET} AND state IN ('ok', 'incomplete') AND next_from IS NOT NULL
             ORDER BY history.id DESC LIMIT 1"
        );
        let values = target(repository, metadata_prefix, set);
        let row = self.database.read().await?.row(&sql, values).await?;
        row.as_ref().map(entry).transpose()
    }

    /// Tells that the harvest is still running, where a page takes long.
    pub async fn renew(&self, run: &Run) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        run.lease.keep(&mut transaction).await?;
        transaction.commit().await
    }

    /// Ends a harvest, and its job with it. One that failed keeps its resume state, so that it can be resumed.
    pub async fn finish(&self, run: Run, finish: &Finish) -> Result<HistoryEntry, Error> {
        let mut transaction = self.database.write().await?;
        lock(&mut transaction, run.repository).await?;
        run.lease.keep(&mut transaction).await?;
        count(&mut transaction, &run, finish.counts).await?;
        let sql =
            "UPDATE history SET state = $2, ended = {now}, failure_reason = $3, next_from = $4,
                 quirks = COALESCE($5, quirks), lease_until = {now},
                 resume_state = CASE WHEN $2 IN ('failed', 'cancelled') THEN resume_state END
             WHERE id = $1";
        let values = [
            run.id().into(),
            finish.state.name().into(),
            finish.reason.as_deref().into(),
            finish.next_from.as_deref().into(),
            finish.quirks.as_deref().into(),
        ];
        transaction.execute(sql, values).await?;
        if let (Some(lease), Some(_)) = (run.lease.job, &finish.job) {
            // The last beat may be a while ago, and a short harvest has none.
            let sql = format!("{SELECT} WHERE history.id = $1");
            let row = transaction.row(&sql, [run.id().into()]).await?;
            let counts = entry(&row.ok_or(Error::LeaseLost { run: run.id() })?)?.counts;
            // A repository may have told of fewer records than it then gave.
            let sql = "UPDATE job SET progress_done = $2, progress_note = $3,
                     progress_total = CASE WHEN progress_total < $2 THEN $2 ELSE progress_total END
                 WHERE id = $1";
            let values = [
                lease.job.into(),
                counts.records().into(),
                counts.in_words().into(),
            ];
            transaction.execute(sql, values).await?;
        }
        let (end, follow_ups) = (finish.job.as_ref(), &finish.follow_ups);
        end_with_work(&mut transaction, &run.lease, end, follow_ups).await?;
        let sql = format!("{SELECT} WHERE history.id = $1");
        let row = transaction.row(&sql, [run.id().into()]).await?;
        transaction.commit().await?;
        entry(&row.ok_or(Error::LeaseLost { run: run.id() })?)
    }
}

/// Adds to what was counted.
pub(crate) async fn count(
    transaction: &mut Transaction,
    run: &Run,
    counts: Counts,
) -> Result<(), Error> {
    let sql = "UPDATE history SET new_records = new_records + $2, updated = updated + $3,
             unchanged = unchanged + $4, deleted = deleted + $5, filtered = filtered + $6,
             repaired = repaired + $7, skipped = skipped + $8, failed = failed + $9,
             requests = requests + $10, bytes = bytes + $11
         WHERE id = $1";
    let values = [
        run.id().into(),
        counts.new.into(),
        counts.updated.into(),
        counts.unchanged.into(),
        counts.deleted.into(),
        counts.filtered.into(),
        counts.repaired.into(),
        counts.skipped.into(),
        counts.failed.into(),
        counts.requests.into(),
        counts.bytes.into(),
    ];
    transaction.execute(sql, values).await?;
    Ok(())
}

pub(crate) fn target(repository: i64, metadata_prefix: &str, set: Option<&str>) -> [Value; 3] {
    [
        repository.into(),
        bounded(metadata_prefix).as_ref().into(),
        bounded(set.unwrap_or_default()).as_ref().into(),
    ]
}
