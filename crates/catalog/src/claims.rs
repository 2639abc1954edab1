//! Claims: how a worker gets its next job, and what becomes of one whose worker is not heard of any more.
//!
//! A claim counts the job's token up, and every later write for the job carries that number. So a worker that was only
//! slow can write nothing once another has the job. The time is the database's.

use std::collections::HashMap;
use std::time::Duration;

use crate::database::Transaction;
use crate::job_log::{LogLevel, log};
use crate::jobs::{lock_queue, read};
use crate::rows::batch;
use crate::running::{self, Running, seconds};
use crate::{Catalog, Error, Job, JobKind, owner};

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
        self.claim_except(options, &[]).await
    }

    /// The same, but for jobs that this worker leaves to others.
    pub async fn claim_except(
        &self,
        options: &ClaimOptions<'_>,
        except: &[i64],
    ) -> Result<Option<Claim>, Error> {
        if !self.has_work(options).await? {
            return Ok(None);
        }
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let running = release_stale(&mut transaction, self.database.is_calm()).await?;
        let claim = match due(&mut transaction, options, &running, except).await? {
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
        running::is_any_stale(&mut transaction).await
    }
}

/// Puts back what workers left, and gives the jobs that still run.
///
/// After a time in which nobody could reach the database, those who are alive get a chance to say so first.
async fn release_stale(
    transaction: &mut Transaction,
    is_calm: bool,
) -> Result<Vec<Running>, Error> {
    let mut running = Vec::new();
    for job in Running::all(transaction).await? {
        let is_left = job.is_gone || (job.is_stale && is_calm);
        if !is_left || !job.release(transaction).await? {
            running.push(job);
        }
    }
    Ok(running)
}

/// A job that can be claimed.
struct Due {
    id: i64,
    token: i64,
    schedule: Option<i64>,
    /// Who had it, if that worker did not give it back.
    left_by: Option<String>,
}

async fn due(
    transaction: &mut Transaction,
    options: &ClaimOptions<'_>,
    running: &[Running],
    except: &[i64],
) -> Result<Option<Due>, Error> {
    let exclusive = running.iter().filter(|job| job.is_exclusive());
    let mut repositories: Vec<_> = exclusive.filter_map(|job| job.repository).collect();
    repositories.append(&mut harvested_without_a_job(transaction).await?);
    let repositories: Vec<_> = repositories.into_iter().map(|id| (id,)).collect();
    let hosts: Vec<_> = full_hosts(running, options.per_host);
    let kinds: Vec<_> = options.kinds.iter().map(|kind| (kind.name(),)).collect();

    // In the order of an index, so that a long queue is not read to its end. The sum keeps the time from being looked for
    // in another one.
    let sql = "SELECT job.id, job.lease_token, job.lease_owner, job.schedule_id
         FROM job LEFT JOIN repository ON repository.id = job.repository_id
         WHERE job.state = 'scheduled' AND job.run_at + 0 <= {now} AND job.kind {texts($1)}
             AND NOT job.id {integers($4)}
             AND (job.kind <> 'harvest'
                 OR NOT (job.repository_id {integers($2)} OR repository.host {texts($3)}))
         ORDER BY job.lease_owner IS NULL, job.priority DESC, job.run_at, job.id LIMIT 1";
    let except: Vec<_> = except.iter().map(|id| (id,)).collect();
    let values = [
        batch(&kinds),
        batch(&repositories),
        batch(&hosts),
        batch(&except),
    ];
    let Some(row) = transaction.row(sql, values).await? else {
        return Ok(None);
    };
    Ok(Some(Due {
        id: row.integer("id")?,
        token: row.integer("lease_token")?,
        schedule: row.maybe_integer("schedule_id")?,
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
    if let Some(schedule) = due.schedule {
        let sql = "UPDATE schedule SET last_run = {now} WHERE id = $1";
        transaction.execute(sql, [schedule.into()]).await?;
    }
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
