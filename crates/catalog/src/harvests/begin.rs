//! How a harvest begins: where nobody else is at it, as a new one or where an earlier one was interrupted.

use crate::database::{Row, Transaction};
use crate::harvests::history::{SELECT, described, entry};
use crate::harvests::runs::target;
use crate::queue::jobs::lock_queue;
use crate::queue::lease::{Holder, Lease, Leased, interrupt, new_holder, seconds};
use crate::queue::owner::{self, Present};
use crate::queue::running::Running;
use crate::repositories::entry::lock;
use crate::runs::{new_number, note_resumed};
use crate::{Catalog, Error, JobLease, NewRun, Run};

/// The action on a repository, in words.
pub(crate) const HARVESTED: &str = "being harvested";

impl Catalog {
    /// Begins a harvest, or goes on with one. Refused while another process harvests the repository or keeps it quiet.
    ///
    /// A harvest that an earlier worker of the same job left running is ended or gone on with.
    pub async fn begin(&self, run: &NewRun) -> Result<Run, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        make_way(&mut transaction, run.repository, run.job).await?;
        lock(&mut transaction, run.repository).await?;
        let holder = new_holder(&mut transaction, run.job).await?;
        end_stale(&mut transaction, run).await?;
        let begun = match run.resume {
            Some(id) => resume(&mut transaction, run, id, holder).await?,
            None => insert(&mut transaction, run, holder).await?,
        };
        transaction.commit().await?;
        Ok(begun)
    }
}

/// Refuses if somebody else harvests the repository or keeps it quiet. Jobs whose worker is gone are put back.
pub(crate) async fn make_way(
    transaction: &mut Transaction,
    repository: i64,
    own: Option<JobLease>,
) -> Result<(), Error> {
    for job in Running::of_repository(transaction, repository).await? {
        let is_own = own.is_some_and(|own| own.job == job.id);
        if is_own || !job.is_exclusive {
            continue;
        }
        if job.holder.is_stale && job.release(transaction).await? {
            continue;
        }
        let sql = "SELECT base_url FROM repository WHERE id = $1";
        let row = transaction.row(sql, [repository.into()]).await?;
        let base_url = row.map(|row| row.text("base_url")).transpose()?;
        return Err(job.refusal(format!("`{}`", base_url.unwrap_or_default())));
    }
    refuse_while_harvested(transaction, repository).await
}

/// Refuses if a command harvests the repository.
pub(crate) async fn refuse_while_harvested(
    transaction: &mut Transaction,
    repository: i64,
) -> Result<(), Error> {
    let sql = format!(
        "{SELECT} WHERE history.repository_id = $1 AND state = 'running' AND history.job_id IS NULL"
    );
    let Some(row) = transaction.row(&sql, [repository.into()]).await? else {
        return Ok(());
    };
    let holder = Holder::of(&row, &mut Present::default())?;
    if holder.is_stale {
        return Ok(());
    }
    let (prefix, set) = (row.text("metadata_prefix")?, row.text("set_spec")?);
    let what = described(&row.text("base_url")?, &prefix, &set);
    Err(holder.refusal(what, HARVESTED.to_owned()))
}

/// Ends the run of a process that is gone, unless it is resumed at once.
async fn end_stale(transaction: &mut Transaction, run: &NewRun) -> Result<(), Error> {
    let sql = "SELECT id FROM history WHERE repository_id = $1 AND state = 'running'";
    let Some(row) = transaction.row(sql, [run.repository.into()]).await? else {
        return Ok(());
    };
    let reason = "its process ended without a word";
    interrupt(
        transaction,
        Leased::Harvest,
        "id",
        row.integer("id")?,
        reason,
    )
    .await
}

async fn resume(
    transaction: &mut Transaction,
    run: &NewRun,
    id: i64,
    process: String,
) -> Result<Run, Error> {
    note_change_of_hands(transaction, run, id, &process).await?;
    if let Some(lease) = run.job {
        let sql = "SELECT run_id FROM history WHERE id = $1";
        if let Some(row) = transaction.row(sql, [id.into()]).await? {
            note_resumed(transaction, row.integer("run_id")?, lease.job).await?;
        }
    }
    let sql = "UPDATE history SET run_id = COALESCE($7, run_id), state = 'running', ended = NULL, failure_reason = NULL,
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
        seconds(run.lease).into(),
        run.job.map(|lease| lease.job).into(),
    ];
    if transaction.execute(sql, values).await? != 1 {
        return Err(Error::NotResumable { run: id });
    }
    begun(transaction, run, id).await
}

async fn insert(
    transaction: &mut Transaction,
    run: &NewRun,
    process: String,
) -> Result<Run, Error> {
    let number = match run.job {
        Some(lease) => lease.job,
        None => new_number(transaction).await?,
    };
    let sql =
        "INSERT INTO history (repository_id, metadata_prefix, set_spec, parameters, state, started,
             lease_owner, lease_token, lease_until, job_id, schedule_id, run_id)
         VALUES ($1, $2, $3, $4, 'running', {now}, $5, 1, {now} + $6, $7,
             (SELECT schedule_id FROM job WHERE id = $7), $8) RETURNING id";
    let [repository, prefix, set] =
        target(run.repository, &run.metadata_prefix, run.set.as_deref());
    let values = [
        repository,
        prefix,
        set,
        run.parameters.as_str().into(),
        process.into(),
        seconds(run.lease).into(),
        run.job.map(|lease| lease.job).into(),
        number.into(),
    ];
    let row = transaction.row(sql, values).await?;
    let id = row.map(|row: Row| row.integer("id")).transpose()?;
    begun(transaction, run, id.unwrap_or_default()).await
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

async fn begun(transaction: &mut Transaction, run: &NewRun, id: i64) -> Result<Run, Error> {
    let sql = format!("{SELECT} WHERE history.id = $1");
    let row = transaction.row(&sql, [id.into()]).await?;
    let entry = entry(&row.ok_or(Error::NotResumable { run: id })?)?;
    Ok(Run {
        lease: Lease {
            of: Leased::Harvest,
            id,
            token: entry.attempts,
            seconds: seconds(run.lease),
            job: run.job,
        },
        repository: run.repository,
        metadata_prefix: entry.metadata_prefix,
        counts: entry.counts,
        resume_state: entry.resume_state,
    })
}
