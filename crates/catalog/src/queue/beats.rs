//! Heartbeats: workers report that they are alive and how far they are, and hear whether to continue.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::database::Transaction;
use crate::database::rows::{BATCH, batch};
use crate::queue::job::activity;
use crate::queue::lease::seconds;
use crate::{Catalog, Error, JobLease, JobProgress};

/// The progress of a job, as its worker reports it.
#[derive(Debug, Clone)]
pub struct Beat {
    /// The job.
    pub lease: JobLease,
    /// How far it is.
    pub progress: JobProgress,
}

/// The answer to a beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// The number of the job.
    pub job: i64,
    /// The instruction for it.
    pub answer: Answer,
}

/// The instruction to a worker about a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    GoOn,
    /// Stop, and end it as cancelled.
    CancelRequested,
    /// Stop, and write nothing more: another has it, or it is over.
    LeaseLost,
}

/// The row of a job that runs.
struct Known {
    token: i64,
    cancel_requested: bool,
    progress: JobProgress,
    lease_left: i64,
}

impl Catalog {
    /// Makes the leases of jobs longer, writes down how far they are, and tells for each whether to go on.
    ///
    /// A worker beats all its jobs at once, several times within a lease. Nothing is written where nothing changed and
    /// the lease has more than half its time to go.
    pub async fn beat(&self, beats: &[Beat], lease: Duration) -> Result<Vec<Heard>, Error> {
        let lease = seconds(lease);
        let mut transaction = self.database.read().await?;
        let mut known = HashMap::new();
        for part in beats.chunks(BATCH) {
            read(&mut transaction, part, &mut known).await?;
        }
        drop(transaction);

        let is_due = |beat: &&Beat| {
            let known = known.get(&beat.lease.job);
            known.is_some_and(|known| known.is_held_by(beat) && known.is_due(beat, lease))
        };
        let due: Vec<&Beat> = beats.iter().filter(is_due).collect();
        let mut lost: HashSet<i64> = HashSet::new();
        if !due.is_empty() {
            let mut transaction = self.database.write().await?;
            for part in due.chunks(BATCH) {
                lost.extend(write(&mut transaction, part, lease).await?);
            }
            transaction.commit().await?;
        }

        let heard = beats.iter().map(|beat| {
            let job = beat.lease.job;
            let answer = match known.get(&job).filter(|known| known.is_held_by(beat)) {
                Some(_) if lost.contains(&job) => Answer::LeaseLost,
                Some(known) if known.cancel_requested => Answer::CancelRequested,
                Some(_) => Answer::GoOn,
                None => Answer::LeaseLost,
            };
            Heard { job, answer }
        });
        Ok(heard.collect())
    }
}

impl Known {
    fn is_held_by(&self, beat: &Beat) -> bool {
        self.token == beat.lease.token
    }

    /// Whether there is something to write. A lease with more than its time to go was given while the clock was ahead.
    fn is_due(&self, beat: &Beat, lease: i64) -> bool {
        self.progress != beat.progress || !(lease / 2 + 1..=lease).contains(&self.lease_left)
    }
}

async fn read(
    transaction: &mut Transaction,
    beats: &[Beat],
    known: &mut HashMap<i64, Known>,
) -> Result<(), Error> {
    let sql =
        "SELECT id, lease_token, cancel_requested, progress_done, progress_total, progress_note, activity,
             lease_until - {now} AS lease_left
         FROM job WHERE state = 'running' AND id {integers($1)}";
    let ids: Vec<_> = beats.iter().map(|beat| (beat.lease.job,)).collect();
    for row in transaction.rows(sql, [batch(&ids)]).await? {
        let total = row.maybe_integer("progress_total")?;
        let job = Known {
            token: row.integer("lease_token")?,
            cancel_requested: row.flag("cancel_requested")?,
            progress: JobProgress {
                done: row.count("progress_done")?,
                total: total.map(|total| total.try_into().unwrap_or_default()),
                note: row.maybe_text("progress_note")?,
                activity: activity(&row)?,
            },
            lease_left: row.maybe_integer("lease_left")?.unwrap_or_default(),
        };
        known.insert(row.integer("id")?, job);
    }
    Ok(())
}

/// Writes what changed, and gives the jobs that were lost since they were read.
async fn write(
    transaction: &mut Transaction,
    beats: &[&Beat],
    lease: i64,
) -> Result<Vec<i64>, Error> {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let rows: Vec<_> = beats
        .iter()
        .map(|beat| {
            let JobProgress {
                done,
                total,
                note,
                activity,
            } = &beat.progress;
            let activity = activity.as_ref().map(serde_json::to_string);
            let activity = activity.and_then(Result::ok);
            let JobLease { job, token } = beat.lease;
            (job, token, number(*done), total.map(number), note, activity)
        })
        .collect();
    let sql =
        "UPDATE job SET lease_until = {now} + $2, progress_done = CAST(item.value->>2 AS BIGINT),
             progress_total = CAST(item.value->>3 AS BIGINT), progress_note = item.value->>4,
             activity = item.value->>5
         FROM {each($1)}
         WHERE job.id = CAST(item.value->>0 AS BIGINT) AND job.state = 'running'
             AND job.lease_token = CAST(item.value->>1 AS BIGINT)
         RETURNING id";
    let written = transaction.rows(sql, [batch(&rows), lease.into()]).await?;
    let mut kept = HashSet::with_capacity(written.len());
    for row in written {
        kept.insert(row.integer("id")?);
    }
    let jobs = beats.iter().map(|beat| beat.lease.job);
    Ok(jobs.filter(|job| !kept.contains(job)).collect())
}
