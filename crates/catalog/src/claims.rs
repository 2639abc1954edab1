//! Claims: how a worker gets its next job, and what becomes of one whose worker is not heard of any more.
//!
//! A claim counts the job's token up, and every later write for the job carries that number. So a worker that was only
//! slow can write nothing once another has the job. The time is the database's.

use std::collections::HashMap;
use std::time::Duration;

use crate::database::{Row, Transaction};
use crate::ends::over;
use crate::job_log::{LogLevel, log};
use crate::jobs::{lock_queue, read};
use crate::rows::batch;
use crate::runs::HARVESTED;
use crate::{Catalog, Error, Job, JobKind, JobState, owner, quiet};

/// How a worker asks for a job.
#[derive(Debug, Clone, Copy)]
pub struct ClaimOptions<'a> {
    /// How long nobody else may take it over without hearing of this worker; a day at most.
    pub lease: Duration,
    /// How many harvests may run at one host; 0 is no limit.
    pub per_host: u32,
    /// What the worker can do. With none of them it only clears away what other workers left.
    pub kinds: &'a [JobKind],
    /// What the worker is called, beside its process.
    pub worker: &'a str,
}

/// A job that a worker got.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The job.
    pub job: Job,
    /// What every write for it carries.
    pub token: i64,
    /// The worker that had it and was not heard of any more, in words.
    pub taken_over: Option<String>,
}

/// The right to write for a job, as long as nobody else has claimed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JobLease {
    /// The number of the job.
    pub job: i64,
    /// How often it had been claimed then.
    pub token: i64,
}

impl Claim {
    /// What every write for the job carries.
    pub fn lease(&self) -> JobLease {
        JobLease {
            job: self.job.id,
            token: self.token,
        }
    }
}

impl Catalog {
    /// Gives a worker the job that is due and can be run now, if there is one. What other workers left comes first.
    ///
    /// A harvest is passed over while its repository is being harvested or kept quiet, and while too many run at its
    /// host.
    pub async fn claim(&self, options: &ClaimOptions<'_>) -> Result<Option<Claim>, Error> {
        if !self.has_work(options).await? {
            return Ok(None);
        }
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let running = release_stale(&mut transaction).await?;
        let claim = match due(&mut transaction, options, &running).await? {
            Some(due) => Some(take(&mut transaction, options, &due).await?),
            None => None,
        };
        transaction.commit().await?;
        Ok(claim)
    }

    /// Whether it is worth to ask for the writer. Idle workers ask often.
    async fn has_work(&self, options: &ClaimOptions<'_>) -> Result<bool, Error> {
        let mut transaction = self.database.read().await?;
        if !options.kinds.is_empty() {
            let sql = "SELECT id FROM job WHERE state = 'scheduled' AND run_at <= {now} LIMIT 1";
            if transaction.row(sql, []).await?.is_some() {
                return Ok(true);
            }
        }
        let running = Running::all(&mut transaction).await?;
        Ok(running.iter().any(Running::is_stale))
    }
}

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
    kind: JobKind,
    repository: Option<i64>,
    host: Option<String>,
    owner: String,
    token: i64,
    lease_until: i64,
    lease_left: i64,
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
    async fn all(transaction: &mut Transaction) -> Result<Vec<Self>, Error> {
        let rows = transaction.rows(RUNNING, []).await?;
        rows.iter().map(Self::from_row).collect()
    }

    /// One job, if it runs.
    pub(crate) async fn one(transaction: &mut Transaction, id: i64) -> Result<Option<Self>, Error> {
        let sql = format!("{RUNNING} AND job.id = $1");
        let row = transaction.row(&sql, [id.into()]).await?;
        row.as_ref().map(Self::from_row).transpose()
    }

    /// The jobs that run about a repository.
    pub(crate) async fn of_repository(
        transaction: &mut Transaction,
        repository: i64,
    ) -> Result<Vec<Self>, Error> {
        let sql = format!("{RUNNING} AND job.repository_id = $1");
        let rows = transaction.rows(&sql, [repository.into()]).await?;
        rows.iter().map(Self::from_row).collect()
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.integer("id")?,
            kind: JobKind::parse(&row.text("kind")?).unwrap_or(JobKind::Hook),
            repository: row.maybe_integer("repository_id")?,
            host: row.maybe_text("host")?,
            owner: row.maybe_text("lease_owner")?.unwrap_or_default(),
            token: row.integer("lease_token")?,
            lease_until: row.maybe_integer("lease_until")?.unwrap_or_default(),
            lease_left: row.maybe_integer("lease_left")?.unwrap_or(-1),
            cancel_requested: row.flag("cancel_requested")?,
            attempt: row.integer("attempt")?,
            max_attempts: row.integer("max_attempts")?,
            parameters: row.text("parameters")?,
        })
    }

    /// Whether its worker is gone, or was not heard of for too long.
    pub(crate) fn is_stale(&self) -> bool {
        !(0..=LONGEST_LEASE).contains(&self.lease_left) || owner::is_gone(&self.owner)
    }

    /// Whether no harvest of its repository may begin.
    pub(crate) fn is_exclusive(&self) -> bool {
        matches!(self.kind, JobKind::Harvest | JobKind::Quiet)
    }

    /// The refusal for those who want to do something else with the repository.
    pub(crate) fn refusal(&self, base_url: &str) -> Error {
        let doing = match self.kind {
            JobKind::Harvest => HARVESTED.to_owned(),
            JobKind::Hook => "being told about".to_owned(),
            JobKind::Quiet => quiet::in_words(&self.parameters),
        };
        Error::Busy {
            what: format!("`{base_url}`"),
            doing,
            owner: owner::described(&self.owner),
        }
    }

    /// Takes the job from its worker, so that another can go on with it, or nobody if it was tried often enough. Tells
    /// whether it did: not if the worker writes something at this very moment.
    pub(crate) async fn release(&self, transaction: &mut Transaction) -> Result<bool, Error> {
        if let Some(repository) = self.repository {
            let sql = "SELECT id FROM repository WHERE id = $1 {lock_free}";
            if transaction.row(sql, [repository.into()]).await?.is_none() {
                return Ok(false);
            }
        }
        let worker = owner::described(&self.owner);
        let reason = format!("{worker} was not heard of any more");
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
        if state.is_over() {
            over(transaction, self.id).await?;
        }
        log(transaction, self.id, LogLevel::Warning, &reason).await?;
        Ok(true)
    }
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

/// Puts back what workers left, and gives the jobs that still run.
async fn release_stale(transaction: &mut Transaction) -> Result<Vec<Running>, Error> {
    let mut running = Vec::new();
    for job in Running::all(transaction).await? {
        if !job.is_stale() || !job.release(transaction).await? {
            running.push(job);
        }
    }
    Ok(running)
}

/// A job that can be claimed.
struct Due {
    id: i64,
    token: i64,
    /// Who had it, if that worker did not give it back.
    left_by: Option<String>,
}

async fn due(
    transaction: &mut Transaction,
    options: &ClaimOptions<'_>,
    running: &[Running],
) -> Result<Option<Due>, Error> {
    let exclusive = running.iter().filter(|job| job.is_exclusive());
    let mut repositories: Vec<_> = exclusive.filter_map(|job| job.repository).collect();
    repositories.append(&mut harvested_without_a_job(transaction).await?);
    let repositories: Vec<_> = repositories.into_iter().map(|id| (id,)).collect();
    let hosts: Vec<_> = full_hosts(running, options.per_host);
    let kinds: Vec<_> = options.kinds.iter().map(|kind| (kind.name(),)).collect();

    let sql = "SELECT job.id, job.lease_token, job.lease_owner
         FROM job LEFT JOIN repository ON repository.id = job.repository_id
         WHERE job.state = 'scheduled' AND job.run_at <= {now} AND job.kind {texts($1)}
             AND (job.kind <> 'harvest'
                 OR NOT (job.repository_id {integers($2)} OR repository.host {texts($3)}))
         ORDER BY job.lease_owner IS NULL, job.priority DESC, job.run_at, job.id LIMIT 1";
    let values = [batch(&kinds), batch(&repositories), batch(&hosts)];
    let Some(row) = transaction.row(sql, values).await? else {
        return Ok(None);
    };
    Ok(Some(Due {
        id: row.integer("id")?,
        token: row.integer("lease_token")?,
        left_by: row.maybe_text("lease_owner")?,
    }))
}

/// The repositories that a command harvests.
async fn harvested_without_a_job(transaction: &mut Transaction) -> Result<Vec<i64>, Error> {
    let sql = "SELECT repository_id, lease_owner, lease_until - {now} AS lease_left FROM history
         WHERE state = 'running' AND job_id IS NULL";
    let mut repositories = Vec::new();
    for row in transaction.rows(sql, []).await? {
        if row.integer("lease_left")? >= 0 && !owner::is_gone(&row.text("lease_owner")?) {
            repositories.push(row.integer("repository_id")?);
        }
    }
    Ok(repositories)
}

/// The hosts at which no further harvest may run.
fn full_hosts(running: &[Running], per_host: u32) -> Vec<(&str,)> {
    if per_host == 0 {
        return Vec::new();
    }
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for job in running {
        if let (JobKind::Harvest, Some(host)) = (job.kind, &job.host) {
            *counts.entry(host).or_default() += 1;
        }
    }
    let full = counts.into_iter().filter(|(_, count)| *count >= per_host);
    full.map(|(host, _)| (host,)).collect()
}

async fn take(
    transaction: &mut Transaction,
    options: &ClaimOptions<'_>,
    due: &Due,
) -> Result<Claim, Error> {
    let worker = owner::this_worker(options.worker);
    let sql = "UPDATE job SET state = 'running', attempt = attempt + 1, lease_owner = $2,
             lease_token = lease_token + 1, lease_until = {now} + $3, started = {now}, finished = NULL,
             cancel_requested = 0, progress_done = 0, progress_total = NULL, progress_note = NULL
         WHERE id = $1";
    let values = [
        due.id.into(),
        worker.as_str().into(),
        seconds(options.lease).into(),
    ];
    transaction.execute(sql, values).await?;
    let sql = "UPDATE schedule SET last_run = {now}
         WHERE id = (SELECT schedule_id FROM job WHERE id = $1)";
    transaction.execute(sql, [due.id.into()]).await?;
    let taken_over = due.left_by.as_deref().map(owner::described);
    if let Some(other) = &taken_over {
        let line = format!("{} took over from {other}", owner::described(&worker));
        log(transaction, due.id, LogLevel::Warning, &line).await?;
    }
    Ok(Claim {
        job: read(transaction, due.id).await?,
        token: due.token + 1,
        taken_over,
    })
}
