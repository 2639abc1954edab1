//! Jobs that run, as others see them, and what becomes of those whose worker is not heard of any more.

use std::time::{Duration, Instant};

use super::ends::over;
use super::lease::{Holder, LONGEST_LEASE, Leased, interrupt, interrupt_work};
use super::log::{LogLevel, log};
use super::owner::{self, Present};
use crate::database::rows::batch;
use crate::database::{Row, Transaction};
use crate::{Catalog, Error, JobKind, JobState};

/// A job that runs, as far as others need to know.
pub(crate) struct Running {
    pub(crate) id: i64,
    kind: JobKind,
    repository: Option<i64>,
    pub(crate) is_exclusive: bool,
    pub(crate) holder: Holder,
    token: i64,
    lease_until: i64,
    cancel_requested: bool,
    attempt: i64,
    max_attempts: i64,
    parameters: String,
}

const RUNNING: &str = "SELECT id, kind, repository_id, exclusive, lease_owner, lease_token, lease_until, \
     lease_until - {now} AS lease_left, cancel_requested, attempt, max_attempts, parameters \
     FROM job WHERE state = 'running'";

/// How often workers look for processes that are gone while there is work for them.
const SWEEP: Duration = Duration::from_secs(1);
/// One more than the queue's own lock: the process that has it releases what others left.
const SWEEPER: i64 = super::jobs::QUEUE + 2;

impl Running {
    /// One job, if it runs.
    pub(crate) async fn one(transaction: &mut Transaction, id: i64) -> Result<Option<Self>, Error> {
        let sql = format!("{RUNNING} AND id = $1");
        let rows = transaction.rows(&sql, [id.into()]).await?;
        Ok(Self::from_rows(&rows)?.pop())
    }

    /// The jobs that run about a repository.
    pub(crate) async fn of_repository(
        transaction: &mut Transaction,
        repository: i64,
    ) -> Result<Vec<Self>, Error> {
        let sql = format!("{RUNNING} AND repository_id = $1");
        let rows = transaction.rows(&sql, [repository.into()]).await?;
        Self::from_rows(&rows)
    }

    fn from_rows(rows: &[Row]) -> Result<Vec<Self>, Error> {
        let mut present = Present::default();
        let job = |row| Self::from_row(row, &mut present);
        rows.iter().map(job).collect()
    }

    fn from_row(row: &Row, present: &mut Present) -> Result<Self, Error> {
        Ok(Self {
            id: row.integer("id")?,
            kind: JobKind::parse(&row.text("kind")?).unwrap_or(JobKind::Hook),
            repository: row.maybe_integer("repository_id")?,
            is_exclusive: row.maybe_text("exclusive")?.is_some(),
            holder: Holder::of(row, present)?,
            token: row.integer("lease_token")?,
            lease_until: row.maybe_integer("lease_until")?.unwrap_or_default(),
            cancel_requested: row.flag("cancel_requested")?,
            attempt: row.integer("attempt")?,
            // Negative if the job is not retried when it fails. A worker that is gone is no failure.
            max_attempts: row.integer("max_attempts")?.abs(),
            parameters: row.text("parameters")?,
        })
    }

    /// The refusal for those who want to do something else with what the job is about.
    pub(crate) fn refusal(&self, what: String) -> Error {
        self.holder.refusal(what, self.kind.doing(&self.parameters))
    }

    /// Takes the job from its worker, so that another can go on with it, or nobody if it was tried often enough. Tells
    /// whether it did: not if the worker writes something at this very moment.
    pub(crate) async fn release(&self, transaction: &mut Transaction) -> Result<bool, Error> {
        if let Some(repository) = self.repository.filter(|_| self.is_exclusive) {
            let sql = "SELECT id FROM repository WHERE id = $1 {lock_free}";
            if transaction.row(sql, [repository.into()]).await?.is_none() {
                return Ok(false);
            }
        }
        let worker = owner::described(&self.holder.owner);
        let reason = match self.holder.is_stale {
            true if self.kind == JobKind::Quiet => "the quiet time is over".to_owned(),
            true => format!("{worker} was not heard of any more"),
            false => format!("taken from {worker}, because somebody cancelled it"),
        };
        // A quiet time that nobody renews has done what it was for.
        let is_quiet = self.kind == JobKind::Quiet;
        let state = match self.attempt >= self.max_attempts {
            _ if self.cancel_requested => JobState::Cancelled,
            true if is_quiet => JobState::Finished,
            true => JobState::Failed,
            false => JobState::Scheduled,
        };
        // The worker may have been heard of since the row was read.
        let sql = "UPDATE job SET state = $4, error = $5,
                 finished = CASE WHEN $4 = 'scheduled' THEN NULL ELSE {now} END
             WHERE id = $1 AND state = 'running' AND lease_token = $2 AND COALESCE(lease_until, 0) = $3";
        let values = [
            self.id.into(),
            self.token.into(),
            self.lease_until.into(),
            state.name().into(),
            Some(reason.as_str())
                .filter(|_| state != JobState::Finished)
                .into(),
        ];
        if transaction.execute(sql, values).await? == 0 {
            return Ok(false);
        }
        interrupt_work(transaction, self.id, &reason).await?;
        if state.is_over() {
            over(transaction, self.id).await?;
        }
        let level = match state {
            JobState::Finished => LogLevel::Info,
            _ => LogLevel::Warning,
        };
        log(transaction, self.id, level, &reason).await?;
        Ok(true)
    }
}

impl Catalog {
    /// Whether this handle has not looked for left jobs for a while. Counts as a look.
    pub(crate) fn is_sweep_due(&self) -> bool {
        let mut swept = self.swept();
        let is_due = swept.is_none_or(|at| at.elapsed() >= SWEEP);
        if is_due {
            *swept = Some(Instant::now());
        }
        is_due
    }

    /// Puts back jobs whose worker is gone, or was not heard of for too long, and tells how many. Ends the harvests and
    /// imports of commands that are gone.
    ///
    /// One process does so at a time, and the others do not wait for it. After a time in which nobody could reach the
    /// database, those who are alive get a chance to say so first.
    pub(crate) async fn release_stale(&self) -> Result<usize, Error> {
        let (gone, is_any_late) = self.look_for_stale().await?;
        let is_calm = self.database.is_calm();
        if gone.is_empty() && !(is_any_late && is_calm) {
            return Ok(0);
        }
        let mut transaction = self.database.write().await?;
        if !transaction.try_take(SWEEPER).await? {
            return Ok(0);
        }
        let sql = format!(
            "{RUNNING} AND (lease_owner {{texts($1)}} OR lease_until < {{now}} OR lease_until > {{now}} + $2
                 OR lease_until IS NULL)"
        );
        let values = [batch(&gone), LONGEST_LEASE.into()];
        let rows = transaction.rows(&sql, values).await?;
        let mut released = 0;
        for job in Running::from_rows(&rows)? {
            let is_left = job.holder.is_gone || (job.holder.is_stale && is_calm);
            released += usize::from(is_left && job.release(&mut transaction).await?);
        }
        for work in Leased::WORK {
            let sql = format!(
                "SELECT id FROM {} WHERE state = 'running' AND job_id IS NULL AND lease_owner {{texts($1)}}",
                work.table()
            );
            for row in transaction.rows(&sql, [batch(&gone)]).await? {
                let reason = "its process ended without a word";
                interrupt(&mut transaction, work, "id", row.integer("id")?, reason).await?;
                released += 1;
            }
        }
        transaction.commit().await?;
        Ok(released)
    }

    /// The holders that are gone for certain, and whether there is a job whose lease has run out.
    async fn look_for_stale(&self) -> Result<(Vec<(String,)>, bool), Error> {
        let mut transaction = self.database.read().await?;
        let sql = "SELECT id FROM job
             WHERE state = 'running' AND (lease_until < {now} OR lease_until > {now} + $1 OR lease_until IS NULL) LIMIT 1";
        let is_any_late = transaction
            .row(sql, [LONGEST_LEASE.into()])
            .await?
            .is_some();
        let sql = "SELECT lease_owner FROM job WHERE state = 'running' AND lease_owner IS NOT NULL
             UNION SELECT lease_owner FROM history WHERE state = 'running' AND job_id IS NULL
             UNION SELECT lease_owner FROM import WHERE state = 'running' AND job_id IS NULL";
        let mut present = Present::default();
        let mut gone = Vec::new();
        for row in transaction.rows(sql, []).await? {
            let owner = row.text("lease_owner")?;
            if present.is_gone(&owner) {
                gone.push((owner,));
            }
        }
        Ok((gone, is_any_late))
    }
}
