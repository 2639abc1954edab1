//! Claims: how a worker gets its next job.
//!
//! Many workers claim at once, and none waits for another: on PostgreSQL a claim is one statement that passes over rows
//! which others hold. Limits are rows and indexes, so that they are exact: `job_exclusive` admits one running job for a
//! key, and `host_slot` has at most `per_host` rows for a host.

use std::time::Duration;

use super::job::{SELECT, job};
use super::jobs::read;
use super::lease::seconds;
use super::log::{LogLevel, log};
use super::owner;
use crate::database::rows::batch;
use crate::database::{Row, Transaction, Value, is_conflict};
use crate::{Catalog, Error, Job, JobKind};

/// How a worker asks for a job.
#[derive(Debug, Clone, Copy)]
pub struct ClaimOptions<'a> {
    /// How long nobody else may take it over without hearing of this worker; a day at most.
    pub lease: Duration,
    /// The kinds of jobs that the worker runs. Without any, it only releases jobs of workers that are gone.
    pub kinds: &'a [JobKind],
    /// The tags of the worker: it takes jobs that need some of these, or none.
    pub tags: &'a [String],
    /// The name of the worker, beside its process.
    pub worker: &'a str,
}

/// A job that a worker got.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The job.
    pub job: Job,
    /// The token that every write for it carries.
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
    /// The lease that every write for the job carries.
    pub fn lease(&self) -> JobLease {
        JobLease {
            job: self.job.id,
            token: self.token,
        }
    }
}

/// How often a claim is tried while other workers hold the jobs that are due, and the pause between.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(3);

/// The jobs that can be run now: due, of the kinds in `$1`, not among `$2`, in need of no tag but those of `$3`, with no job
/// of the same key running, nor a command at work on the same repository, and with a slot left at their host. The sum keeps the time from being looked up
/// in another index than that of the order.
const FREE: &str = "FROM job CROSS JOIN queue_limit
     WHERE job.state = 'scheduled' AND job.run_at + 0 <= {now} AND job.kind {texts($1)} AND NOT job.id {integers($2)}
         AND (job.needs IS NULL OR NOT EXISTS (SELECT 1 FROM {each(job.needs)} WHERE NOT (item.value->>0 {texts($3)})))
         AND (job.exclusive IS NULL OR NOT (
             EXISTS (SELECT 1 FROM job AS other WHERE other.exclusive = job.exclusive AND other.state = 'running')
             OR EXISTS (SELECT 1 FROM history WHERE history.repository_id = job.repository_id
                 AND history.state = 'running' AND history.job_id IS NULL AND history.lease_until >= {now})))
         AND (job.host IS NULL OR per_host = 0
             OR (SELECT count(*) FROM host_slot WHERE host_slot.host = job.host) < per_host)
     ORDER BY job.lease_owner IS NULL, job.priority DESC, job.run_at, job.id LIMIT 1";

const TAKE: &str = "state = 'running', attempt = attempt + 1, lease_owner = $4, lease_token = lease_token + 1,
     lease_until = {now} + $5, started = {now}, finished = NULL, cancel_requested = 0, progress_done = 0,
     progress_total = NULL, progress_note = NULL, activity = NULL, put_off = NULL";

impl Catalog {
    /// Gives a worker the job that is due and can be run now, if there is one. Jobs that other workers left come first.
    ///
    /// A job is passed over while another with the same key runs, and while its host has no slot left.
    pub async fn claim(&self, options: &ClaimOptions<'_>) -> Result<Option<Claim>, Error> {
        self.claim_except(options, &[]).await
    }

    /// The same, but for jobs that this worker leaves to others.
    pub async fn claim_except(
        &self,
        options: &ClaimOptions<'_>,
        except: &[i64],
    ) -> Result<Option<Claim>, Error> {
        let worker = owner::this_worker(options.worker);
        let wanted = || {
            let kinds: Vec<_> = options.kinds.iter().map(|kind| (kind.name(),)).collect();
            let except: Vec<_> = except.iter().map(|id| (id,)).collect();
            let tags: Vec<_> = options.tags.iter().map(|tag| (tag,)).collect();
            [batch(&kinds), batch(&except), batch(&tags)]
        };
        if self.is_sweep_due() {
            self.release_stale().await?;
        }
        for _ in 0..TRIES {
            let [kinds, except, tags] = wanted();
            let lease = seconds(options.lease).into();
            let values = [kinds, except, tags, worker.as_str().into(), lease];
            if let Some(claim) = self.try_claim(&worker, values).await? {
                return Ok(Some(claim));
            }
            // Other workers may hold what is due at this moment, and leave it or its host to this one.
            if self.release_stale().await? == 0 && !self.is_any_free(wanted()).await? {
                return Ok(None);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(None)
    }

    /// Sets how many jobs may run at one host; 0 is no limit. It holds for all workers of this catalog.
    pub async fn set_per_host(&self, per_host: u32) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql = "UPDATE queue_limit SET per_host = $1";
        transaction
            .execute(sql, [i64::from(per_host).into()])
            .await?;
        transaction.commit().await
    }

    async fn try_claim(&self, worker: &str, values: [Value; 5]) -> Result<Option<Claim>, Error> {
        // Idle workers ask often, and SQLite has one writer.
        if self.database.is_sqlite() {
            let [kinds, except, tags, ..] = &values;
            let wanted = [kinds.clone(), except.clone(), tags.clone()];
            if !self.is_any_free(wanted).await? {
                return Ok(None);
            }
        }
        let mut transaction = self.database.write().await?;
        let taken = match self.database.is_sqlite() {
            true => take_alone(&mut transaction, values).await,
            false => take_among_others(&mut transaction, values).await,
        };
        let claim = match taken {
            Ok(Some(claim)) => claim,
            Ok(None) => return Ok(None),
            // Another worker took a job with the same key at the same time.
            Err(error) if is_conflict(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some(other) = &claim.taken_over {
            let line = format!("{} took over from {other}", owner::described(worker));
            log(&mut transaction, claim.job.id, LogLevel::Warning, &line).await?;
        }
        transaction.commit().await?;
        Ok(Some(claim))
    }

    async fn is_any_free(&self, wanted: [Value; 3]) -> Result<bool, Error> {
        let sql = format!("SELECT job.id {FREE}");
        let row = self.database.read().await?.row(&sql, wanted).await?;
        Ok(row.is_some())
    }
}

/// Takes a job in one statement. A slot that another worker takes at the same time is not waited for twice: the job is left,
/// and asked for again. The slots of a host are tried from different ends, so that this is rare.
async fn take_among_others(
    transaction: &mut Transaction,
    values: [Value; 5],
) -> Result<Option<Claim>, Error> {
    let columns = SELECT.replacen("FROM job ", "FROM taken AS job ", 1);
    let columns = columns.replacen("SELECT ", "SELECT job.lease_token, job.left_by, ", 1);
    let sql = format!(
        "WITH due AS MATERIALIZED (
             SELECT job.id, job.host, job.schedule_id, job.lease_owner AS left_by, per_host {FREE}
             FOR NO KEY UPDATE OF job SKIP LOCKED),
         slot AS (
             INSERT INTO host_slot (host, number, job_id)
             SELECT due.host, free.number, due.id FROM due CROSS JOIN LATERAL (
                 SELECT number FROM generate_series(1, due.per_host) AS series (number)
                 WHERE NOT EXISTS (SELECT 1 FROM host_slot AS held
                     WHERE held.host = due.host AND held.number = series.number)
                 ORDER BY (number + due.id) % due.per_host LIMIT 1) AS free
             WHERE due.host IS NOT NULL AND due.per_host > 0
             ON CONFLICT DO NOTHING RETURNING job_id),
         taken AS (
             UPDATE job SET {TAKE} FROM due
             WHERE job.id = due.id
                 AND (due.host IS NULL OR due.per_host = 0 OR EXISTS (SELECT 1 FROM slot))
             RETURNING job.*, due.left_by),
         begun AS (
             UPDATE schedule SET last_run = {{now}} FROM taken WHERE schedule.id = taken.schedule_id)
         {columns}"
    );
    let row = transaction.row(&sql, values).await?;
    row.map(|row| claim(&row, job(&row)?)).transpose()
}

/// Takes a job while nobody else writes.
async fn take_alone(
    transaction: &mut Transaction,
    values: [Value; 5],
) -> Result<Option<Claim>, Error> {
    let [kinds, except, tags, worker, lease] = values;
    let sql = format!(
        "SELECT job.id, job.host, job.lease_token + 1 AS lease_token, job.lease_owner AS left_by {FREE}"
    );
    let wanted = [kinds.clone(), except.clone(), tags.clone()];
    let Some(row) = transaction.row(&sql, wanted).await? else {
        return Ok(None);
    };
    let id = row.integer("id")?;
    let sql = format!("UPDATE job SET {TAKE} WHERE id = $6");
    let values = [kinds, except, tags, worker, lease, id.into()];
    transaction.execute(&sql, values).await?;
    if row.maybe_text("host")?.is_some() {
        let sql = "INSERT INTO host_slot (host, number, job_id)
             SELECT host, (SELECT COALESCE(max(number), 0) + 1 FROM host_slot WHERE host_slot.host = job.host), id
             FROM job CROSS JOIN queue_limit WHERE id = $1 AND per_host > 0";
        transaction.execute(sql, [id.into()]).await?;
    }
    let job = read(transaction, id).await?;
    if let Some(schedule) = job.schedule {
        let sql = "UPDATE schedule SET last_run = {now} WHERE id = $1";
        transaction.execute(sql, [schedule.into()]).await?;
    }
    Ok(Some(claim(&row, job)?))
}

fn claim(row: &Row, job: Job) -> Result<Claim, Error> {
    let left_by = row.maybe_text("left_by")?;
    Ok(Claim {
        job,
        token: row.integer("lease_token")?,
        taken_over: left_by.as_deref().map(owner::described),
    })
}
