//! How a harvest begins: where nobody else is at it, as a new one or where an earlier one was interrupted.

use crate::database::{Row, Transaction};
use crate::history::{SELECT, described, entry};
use crate::jobs::lock_queue;
use crate::repositories::lock;
use crate::running::{Running, seconds};
use crate::runs::{HARVESTED, target};
use crate::{Catalog, Error, JobLease, NewRun, Run, owner};

impl Catalog {
    /// Begins a harvest, or goes on with one. Refused while another process harvests the repository or keeps it quiet.
    ///
    /// A harvest that an earlier worker of the same job left running is ended or gone on with.
    pub async fn begin(&self, run: &NewRun) -> Result<Run, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        if let Some(lease) = run.job {
            check(&mut transaction, lease).await?;
        }
        make_way(&mut transaction, run.repository, run.job).await?;
        lock(&mut transaction, run.repository).await?;
        end_stale(&mut transaction, run).await?;
        let lease = seconds(run.lease);
        let begun = match run.resume {
            Some(id) => resume(&mut transaction, run, id, lease).await?,
            None => insert(&mut transaction, run, lease).await?,
        };
        transaction.commit().await?;
        Ok(begun)
    }
}

/// Refuses if the job is another's by now. It cannot become so before the end: the queue is locked.
async fn check(transaction: &mut Transaction, lease: JobLease) -> Result<(), Error> {
    let sql = "SELECT id FROM job WHERE id = $1 AND lease_token = $2 AND state = 'running'";
    let values = [lease.job.into(), lease.token.into()];
    let row = transaction.row(sql, values).await?;
    row.map(drop).ok_or(Error::JobLost { job: lease.job })
}

/// Refuses if somebody else harvests the repository or keeps it quiet. Jobs whose worker is gone are put back.
pub(crate) async fn make_way(
    transaction: &mut Transaction,
    repository: i64,
    own: Option<JobLease>,
) -> Result<(), Error> {
    for job in Running::of_repository(transaction, repository).await? {
        let is_own = own.is_some_and(|own| own.job == job.id);
        if is_own || !job.is_exclusive() || (job.is_stale && job.release(transaction).await?) {
            continue;
        }
        let sql = "SELECT base_url FROM repository WHERE id = $1";
        let row = transaction.row(sql, [repository.into()]).await?;
        let base_url = row.map(|row| row.text("base_url")).transpose()?;
        return Err(job.refusal(format!("`{}`", base_url.unwrap_or_default())));
    }
    let sql = format!("{SELECT} WHERE history.repository_id = $1 AND state = 'running'");
    let Some(row) = transaction.row(&sql, [repository.into()]).await? else {
        return Ok(());
    };
    let process = row.text("lease_owner")?;
    // That of a job is nobody's: the job would have been met above.
    let is_held = row.maybe_integer("job_id")?.is_none()
        && row.integer("lease_left")? >= 0
        && !owner::is_gone(&process);
    if !is_held {
        return Ok(());
    }
    let (prefix, set) = (row.text("metadata_prefix")?, row.text("set_spec")?);
    Err(Error::Busy {
        what: described(&row.text("base_url")?, &prefix, &set),
        doing: HARVESTED.to_owned(),
        owner: owner::described(&process),
    })
}

/// Ends the run of a process that is gone.
async fn end_stale(transaction: &mut Transaction, run: &NewRun) -> Result<(), Error> {
    let sql = "SELECT id FROM history WHERE repository_id = $1 AND state = 'running'";
    let Some(row) = transaction.row(sql, [run.repository.into()]).await? else {
        return Ok(());
    };
    let id = row.integer("id")?;
    let sql = if run.resume == Some(id) {
        // It is gone on with at once, and the token counts up then.
        "UPDATE history SET state = 'failed' WHERE id = $1"
    } else {
        "UPDATE history SET state = 'failed', ended = {now}, lease_token = lease_token + 1,
             failure_reason = 'interrupted: its process ended without a word'
         WHERE id = $1"
    };
    transaction.execute(sql, [id.into()]).await?;
    Ok(())
}

async fn resume(
    transaction: &mut Transaction,
    run: &NewRun,
    id: i64,
    lease: i64,
) -> Result<Run, Error> {
    let process = holder(transaction, run).await?;
    note_change_of_hands(transaction, run, id, &process).await?;
    let sql = "UPDATE history SET state = 'running', ended = NULL, failure_reason = NULL,
             lease_owner = $5, lease_token = lease_token + 1, lease_until = {now} + $6, job_id = $7,
             schedule_id = (SELECT schedule_id FROM job WHERE id = $7)
         WHERE id = $4 AND repository_id = $1 AND metadata_prefix = $2 AND set_spec = $3
             AND state IN ('failed', 'cancelled')";
    let [repository, prefix, set] =
        target(run.repository, &run.metadata_prefix, run.set.as_deref());
    let values = [
        repository,
        prefix,
        set,
        id.into(),
        process.into(),
        lease.into(),
        run.job.map(|lease| lease.job).into(),
    ];
    if transaction.execute(sql, values).await? != 1 {
        return Err(Error::NotResumable { run: id });
    }
    begun(transaction, run, id, lease).await
}

async fn insert(transaction: &mut Transaction, run: &NewRun, lease: i64) -> Result<Run, Error> {
    let process = holder(transaction, run).await?;
    let sql =
        "INSERT INTO history (repository_id, metadata_prefix, set_spec, parameters, state, started,
             lease_owner, lease_token, lease_until, job_id, schedule_id)
         VALUES ($1, $2, $3, $4, 'running', {now}, $5, 1, {now} + $6, $7,
             (SELECT schedule_id FROM job WHERE id = $7)) RETURNING id";
    let [repository, prefix, set] =
        target(run.repository, &run.metadata_prefix, run.set.as_deref());
    let values = [
        repository,
        prefix,
        set,
        run.parameters.as_str().into(),
        process.into(),
        lease.into(),
        run.job.map(|lease| lease.job).into(),
    ];
    let row = transaction.row(sql, values).await?;
    let id = row.map(|row: Row| row.integer("id")).transpose()?;
    begun(transaction, run, id.unwrap_or_default(), lease).await
}

/// The name of who begins: that of the job's worker, or of this process.
async fn holder(transaction: &mut Transaction, run: &NewRun) -> Result<String, Error> {
    let Some(lease) = run.job else {
        return Ok(owner::this_process());
    };
    let sql = "SELECT lease_owner FROM job WHERE id = $1";
    let row = transaction.row(sql, [lease.job.into()]).await?;
    let worker = row.map(|row| row.maybe_text("lease_owner")).transpose()?;
    Ok(worker.flatten().unwrap_or_else(owner::this_process))
}

/// Lets the history tell that a harvest went on elsewhere.
async fn note_change_of_hands(
    transaction: &mut Transaction,
    run: &NewRun,
    id: i64,
    process: &str,
) -> Result<(), Error> {
    let sql = "SELECT lease_owner FROM history WHERE id = $1";
    let row = transaction.row(sql, [id.into()]).await?;
    let before = row.map(|row| row.text("lease_owner")).transpose()?;
    let Some(before) = before.filter(|before| run.job.is_some() && before != process) else {
        return Ok(());
    };
    let reason = format!(
        "interrupted: {} had it before, and {} went on with it",
        owner::described(&before),
        owner::described(process)
    );
    let sql = "INSERT INTO warning (history_id, reason, lost) VALUES ($1, $2, 0)";
    transaction.execute(sql, [id.into(), reason.into()]).await?;
    Ok(())
}

async fn begun(
    transaction: &mut Transaction,
    run: &NewRun,
    id: i64,
    lease: i64,
) -> Result<Run, Error> {
    let sql = format!("{SELECT} WHERE history.id = $1");
    let row = transaction.row(&sql, [id.into()]).await?;
    let entry = entry(&row.ok_or(Error::NotResumable { run: id })?)?;
    Ok(Run {
        id,
        repository: run.repository,
        metadata_prefix: entry.metadata_prefix,
        token: entry.attempts,
        lease,
        job: run.job,
        counts: entry.counts,
        resume_state: entry.resume_state,
    })
}
