//! Jobs that run, as others see them: whether their worker is heard of, and what becomes of them if not.

use std::time::Duration;

use crate::database::{Row, Transaction};
use crate::ends::over;
use crate::job_log::{LogLevel, log};
use crate::owner::Present;
use crate::runs::HARVESTED;
use crate::{Error, JobKind, JobState, imports, owner, quiet};

/// A lease is not longer than this, in seconds. One that is was given while the clock was ahead.
const LONGEST_LEASE: i64 = 24 * 60 * 60;

/// A lease in seconds.
pub(crate) fn seconds(lease: Duration) -> i64 {
    let seconds = i64::try_from(lease.as_secs()).unwrap_or(LONGEST_LEASE);
    seconds.min(LONGEST_LEASE)
}

/// A job that runs, as far as others need to know.
pub(crate) struct Running {
    pub(crate) id: i64,
    pub(crate) kind: JobKind,
    pub(crate) repository: Option<i64>,
    pub(crate) host: Option<String>,
    owner: String,
    /// Whether its worker is gone, or was not heard of for too long.
    pub(crate) is_stale: bool,
    /// Whether its worker is gone for certain.
    pub(crate) is_gone: bool,
    token: i64,
    lease_until: i64,
    cancel_requested: bool,
    attempt: i64,
    max_attempts: i64,
    parameters: String,
}

const RUNNING: &str = "SELECT job.id, job.kind, job.repository_id, repository.host, job.lease_owner, \
     job.lease_token, job.lease_until, job.lease_until - {now} AS lease_left, job.cancel_requested, job.attempt, \
     job.max_attempts, job.parameters \
     FROM job LEFT JOIN repository ON repository.id = job.repository_id WHERE job.state = 'running'";

impl Running {
    /// All jobs that run.
    pub(crate) async fn all(transaction: &mut Transaction) -> Result<Vec<Self>, Error> {
        let rows = transaction.rows(RUNNING, []).await?;
        Self::from_rows(&rows)
    }

    /// One job, if it runs.
    pub(crate) async fn one(transaction: &mut Transaction, id: i64) -> Result<Option<Self>, Error> {
        let sql = format!("{RUNNING} AND job.id = $1");
        let rows = transaction.rows(&sql, [id.into()]).await?;
        Ok(Self::from_rows(&rows)?.pop())
    }

    /// The jobs that run about a repository.
    pub(crate) async fn of_repository(
        transaction: &mut Transaction,
        repository: i64,
    ) -> Result<Vec<Self>, Error> {
        let sql = format!("{RUNNING} AND job.repository_id = $1");
        let rows = transaction.rows(&sql, [repository.into()]).await?;
        Self::from_rows(&rows)
    }

    fn from_rows(rows: &[Row]) -> Result<Vec<Self>, Error> {
        let mut present = Present::default();
        let job = |row| Self::from_row(row, &mut present);
        rows.iter().map(job).collect()
    }

    fn from_row(row: &Row, present: &mut Present) -> Result<Self, Error> {
        let owner = row.maybe_text("lease_owner")?.unwrap_or_default();
        let lease_left = row.maybe_integer("lease_left")?.unwrap_or(-1);
        let is_gone = present.is_gone(&owner);
        let is_heard_of = (0..=LONGEST_LEASE).contains(&lease_left) && !is_gone;
        Ok(Self {
            id: row.integer("id")?,
            kind: JobKind::parse(&row.text("kind")?).unwrap_or(JobKind::Hook),
            repository: row.maybe_integer("repository_id")?,
            host: row.maybe_text("host")?,
            is_stale: !is_heard_of,
            is_gone,
            owner,
            token: row.integer("lease_token")?,
            lease_until: row.maybe_integer("lease_until")?.unwrap_or_default(),
            cancel_requested: row.flag("cancel_requested")?,
            attempt: row.integer("attempt")?,
            // Less than none if it is not to be tried again should it fail. A worker that is gone is no failure.
            max_attempts: row.integer("max_attempts")?.abs(),
            parameters: row.text("parameters")?,
        })
    }

    /// Whether somebody has it who cannot be asked to stop, only refused when asking for more.
    pub(crate) fn is_of_person(&self) -> bool {
        owner::is_person(&self.owner)
    }

    /// Whether no harvest of its repository may begin.
    pub(crate) fn is_exclusive(&self) -> bool {
        matches!(self.kind, JobKind::Harvest | JobKind::Quiet)
    }

    /// The refusal for those who want to do something else with what it is about.
    pub(crate) fn refusal(&self, what: String) -> Error {
        let doing = match self.kind {
            JobKind::Harvest => HARVESTED.to_owned(),
            JobKind::Hook => "being told about".to_owned(),
            JobKind::Import => "being imported".to_owned(),
            JobKind::Classify => "being judged".to_owned(),
            JobKind::Quiet => quiet::in_words(&self.parameters),
        };
        Error::Busy {
            what,
            doing,
            owner: owner::described(&self.owner),
        }
    }

    /// Takes the job from its worker, so that another can go on with it, or nobody if it was tried often enough. Tells
    /// whether it did: not if the worker writes something at this very moment.
    pub(crate) async fn release(&self, transaction: &mut Transaction) -> Result<bool, Error> {
        if let Some(repository) = self.repository.filter(|_| self.is_exclusive()) {
            let sql = "SELECT id FROM repository WHERE id = $1 {lock_free}";
            if transaction.row(sql, [repository.into()]).await?.is_none() {
                return Ok(false);
            }
        }
        let worker = owner::described(&self.owner);
        let reason = match self.is_stale {
            true => format!("{worker} was not heard of any more"),
            false => format!("taken from {worker}, because somebody cancelled it"),
        };
        let state = match self.kind {
            _ if self.cancel_requested => JobState::Cancelled,
            JobKind::Quiet => JobState::Failed,
            _ if self.attempt >= self.max_attempts => JobState::Failed,
            _ => JobState::Scheduled,
        };
        // It may have been heard of since the row was read.
        let sql = "UPDATE job SET state = $4, error = $5,
                 finished = CASE WHEN $4 = 'scheduled' THEN NULL ELSE {now} END
             WHERE id = $1 AND state = 'running' AND lease_token = $2 AND COALESCE(lease_until, 0) = $3";
        let values = [
            self.id.into(),
            self.token.into(),
            self.lease_until.into(),
            state.name().into(),
            reason.as_str().into(),
        ];
        if transaction.execute(sql, values).await? == 0 {
            return Ok(false);
        }
        interrupt_history(transaction, self.id, &reason).await?;
        imports::interrupt(transaction, self.id, &reason).await?;
        if state.is_over() {
            over(transaction, self.id).await?;
        }
        log(transaction, self.id, LogLevel::Warning, &reason).await?;
        Ok(true)
    }
}

/// Whether there is a job whose worker is gone, or was not heard of for too long. Asked often, so by worker.
pub(crate) async fn is_any_stale(transaction: &mut Transaction) -> Result<bool, Error> {
    let sql =
        "SELECT lease_owner, min(lease_until) - {now} AS least, max(lease_until) - {now} AS most
         FROM job WHERE state = 'running' GROUP BY lease_owner";
    let mut present = Present::default();
    for row in transaction.rows(sql, []).await? {
        let least = row.maybe_integer("least")?.unwrap_or(-1);
        let most = row.maybe_integer("most")?.unwrap_or(-1);
        let owner = row.maybe_text("lease_owner")?.unwrap_or_default();
        if least < 0 || most > LONGEST_LEASE || present.is_gone(&owner) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Ends the harvest of a job that its worker did not end. What it has so far can be gone on with.
pub(crate) async fn interrupt_history(
    transaction: &mut Transaction,
    job: i64,
    reason: &str,
) -> Result<(), Error> {
    let sql = "UPDATE history SET state = 'failed', ended = {now}, lease_token = lease_token + 1,
             failure_reason = $2
         WHERE job_id = $1 AND state = 'running'";
    let reason = format!("interrupted: {reason}");
    transaction
        .execute(sql, [job.into(), reason.into()])
        .await?;
    Ok(())
}
