//! How jobs end: by their worker, by somebody who cancels them, and how they begin anew.

use std::time::Duration;

use crate::database::Transaction;
use crate::queue::jobs::{insert, lock_queue, read};
use crate::queue::lease::{Lease, interrupt_work};
use crate::queue::owner;
use crate::queue::running::Running;
use crate::queue::schedules::{self, withdraw};
use crate::{Catalog, Error, Job, JobLease, JobState, NewJob};

/// How a worker ends a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobEnd {
    /// It is done.
    Finished,
    /// It could not be done.
    Failed {
        /// Why.
        reason: String,
        /// After which time it may be tried again, if there are attempts left.
        retry_in: Option<Duration>,
    },
    /// It was asked to stop, and did.
    Cancelled,
    /// The worker stops; another can have it at once, and the attempt does not count.
    GivenBack,
    /// Something else has to end first; it waits for so long, and the attempt does not count.
    PutOff {
        /// How long.
        wait: Duration,
        /// Why, in words.
        reason: String,
    },
}

/// The outcome of cancelling a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// It had not begun, nobody was at it any more, or nobody has to stop something for it: it is cancelled.
    Withdrawn,
    /// It runs, and was asked to stop.
    Asked,
    /// It was over already.
    Over(JobState),
    /// There is no such job.
    Unknown,
}

/// The priority of what somebody waits for: it comes before what is due by itself.
pub const URGENT: i64 = 1;

impl Catalog {
    /// Ends a job that this worker has and that no [`Run`](crate::Run) ends: [`Catalog::finish`] does both.
    ///
    /// The follow-ups are put into the queue if the job is over, and not if it is tried again.
    pub async fn end_job(
        &self,
        lease: &JobLease,
        end: &JobEnd,
        follow_ups: &[NewJob],
    ) -> Result<JobState, Error> {
        let mut transaction = self.database.write().await?;
        let state = write_end(&mut transaction, *lease, end, follow_ups).await?;
        interrupt_work(&mut transaction, lease.job, "its job ended").await?;
        transaction.commit().await?;
        Ok(state)
    }

    /// Withdraws a job that waits, and asks one that runs to stop.
    pub async fn cancel_job(&self, id: i64) -> Result<Cancelled, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let sql = "SELECT state FROM job WHERE id = $1 {lock}";
        let Some(row) = transaction.row(sql, [id.into()]).await? else {
            return Ok(Cancelled::Unknown);
        };
        let state = JobState::parse(&row.text("state")?).unwrap_or(JobState::Failed);
        let cancelled = match state {
            JobState::Scheduled => {
                skip(&mut transaction, id).await?;
                Cancelled::Withdrawn
            }
            JobState::Running => ask_to_stop(&mut transaction, id).await?,
            over => Cancelled::Over(over),
        };
        transaction.commit().await?;
        Ok(cancelled)
    }

    /// Puts a job that failed or was cancelled into the queue again, due at once and with all its attempts.
    ///
    /// It takes the place of the one that its schedule has waiting.
    pub async fn retry_job(&self, id: i64) -> Result<Job, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let job = read(&mut transaction, id).await?;
        if !matches!(job.state, JobState::Failed | JobState::Cancelled) || job.max_attempts == 0 {
            let state = job.state.name();
            return Err(Error::NotRetryable { job: id, state });
        }
        if let Some(schedule) = job.schedule {
            make_room(&mut transaction, schedule).await?;
        }
        let sql =
            "UPDATE job SET state = 'scheduled', run_at = {now}, attempt = 0, finished = NULL,
                 max_attempts = abs(max_attempts),
                 lease_owner = NULL, cancel_requested = 0, put_off = NULL,
                 priority = CASE WHEN priority < $2 THEN $2 ELSE priority END
             WHERE id = $1";
        transaction.execute(sql, [id.into(), URGENT.into()]).await?;
        let job = read(&mut transaction, id).await?;
        transaction.commit().await?;
        Ok(job)
    }
}

/// Ends the job of a harvest or an import together with it, if `end` says how, and queues the follow-ups.
pub(crate) async fn end_with_work(
    transaction: &mut Transaction,
    work: &Lease,
    end: Option<&JobEnd>,
    follow_ups: &[NewJob],
) -> Result<(), Error> {
    if let (Some(lease), Some(end)) = (work.job, end) {
        let state = write_end(transaction, lease, end, follow_ups).await;
        return state.map(drop);
    }
    for job in follow_ups {
        insert(transaction, job).await?;
    }
    Ok(())
}

/// Ends a job within a transaction, or puts it back into the queue. Refuses if another has it.
async fn write_end(
    transaction: &mut Transaction,
    lease: JobLease,
    end: &JobEnd,
    follow_ups: &[NewJob],
) -> Result<JobState, Error> {
    let sql = "SELECT schedule_id, attempt, max_attempts, cancel_requested FROM job
         WHERE id = $1 AND lease_token = $2 AND state = 'running' {lock}";
    let values = [lease.job.into(), lease.token.into()];
    let row = transaction.row(sql, values).await?;
    let row = row.ok_or(Error::JobLost { job: lease.job })?;
    let max_attempts = row.integer("max_attempts")?;
    // A job of no attempts is its holder's alone, and a cancelled one is not begun again.
    let is_last = max_attempts == 0 || row.flag("cancel_requested")?;
    // A changed schedule makes `max_attempts` negative, so its old job is never retried.
    let has_attempts = row.integer("attempt")? < max_attempts;
    let (state, reason, again_in) = match end {
        JobEnd::Finished => (JobState::Finished, None, None),
        JobEnd::Cancelled => (JobState::Cancelled, None, None),
        JobEnd::GivenBack | JobEnd::PutOff { .. } if is_last => (JobState::Cancelled, None, None),
        JobEnd::GivenBack => (JobState::Scheduled, None, None),
        JobEnd::PutOff { wait, .. } => (JobState::Scheduled, None, Some(*wait)),
        JobEnd::Failed { reason, retry_in } => {
            let retry_in = retry_in.filter(|_| has_attempts);
            let state = match retry_in {
                Some(_) if is_last => JobState::Cancelled,
                Some(_) => JobState::Scheduled,
                None => JobState::Failed,
            };
            (state, Some(reason.as_str()), retry_in)
        }
    };
    let again_in = again_in.map(|time| i64::try_from(time.as_secs()).unwrap_or(i64::MAX / 4));
    let is_free = matches!(end, JobEnd::GivenBack | JobEnd::PutOff { .. });
    let given_back = state == JobState::Scheduled && is_free;
    let put_off = match end {
        JobEnd::PutOff { reason, .. } if state == JobState::Scheduled => Some(reason.as_str()),
        _ => None,
    };
    let sql = "UPDATE job SET state = $2, error = $3, put_off = $6, activity = NULL, run_at = COALESCE({now} + $4, run_at),
             attempt = attempt - $5, lease_until = NULL,
             lease_owner = CASE WHEN $2 = 'scheduled' THEN NULL ELSE lease_owner END,
             finished = CASE WHEN $2 = 'scheduled' THEN NULL ELSE {now} END
         WHERE id = $1";
    let values = [
        lease.job.into(),
        state.name().into(),
        reason.into(),
        again_in.into(),
        given_back.into(),
        put_off.into(),
    ];
    transaction.execute(sql, values).await?;
    if state.is_over() {
        if row.maybe_integer("schedule_id")?.is_some() {
            over(transaction, lease.job).await?;
        }
        for job in follow_ups {
            insert(transaction, job).await?;
        }
    }
    Ok(state)
}

/// Ends the schedule of a job that is over, if it was to run once.
pub(crate) async fn over(transaction: &mut Transaction, job: i64) -> Result<(), Error> {
    let sql = "UPDATE schedule SET state = 'ended'
         WHERE state = 'once' AND id = (SELECT schedule_id FROM job WHERE id = $1)";
    transaction.execute(sql, [job.into()]).await?;
    Ok(())
}

/// Cancels a job that waits. If it was planned for later, the next one is planned after that.
async fn skip(transaction: &mut Transaction, id: i64) -> Result<(), Error> {
    let sql = "UPDATE schedule SET skipped = (SELECT run_at FROM job WHERE id = $1)
         WHERE id = (SELECT schedule_id FROM job WHERE id = $1 AND lease_token = 0 AND run_at > {now})";
    transaction.execute(sql, [id.into()]).await?;
    let sql = "UPDATE job SET state = 'cancelled', finished = {now} WHERE id = $1";
    transaction.execute(sql, [id.into()]).await?;
    over(transaction, id).await
}

async fn ask_to_stop(transaction: &mut Transaction, id: i64) -> Result<Cancelled, Error> {
    let sql = "UPDATE job SET cancel_requested = 1 WHERE id = $1";
    transaction.execute(sql, [id.into()]).await?;
    // Where nobody is left to hear of it, there is nothing to wait for.
    let running = Running::one(transaction, id).await?;
    let is_free =
        |running: &Running| running.holder.is_stale || owner::is_person(&running.holder.owner);
    if let Some(running) = running.filter(is_free)
        && running.release(transaction).await?
    {
        return Ok(Cancelled::Withdrawn);
    }
    Ok(Cancelled::Asked)
}

/// Withdraws what a schedule has waiting; refused if that runs.
async fn make_room(transaction: &mut Transaction, id: i64) -> Result<(), Error> {
    let schedule = schedules::read(transaction, id).await?;
    if let Some(job) = schedule.job
        && let Some(running) = Running::one(transaction, job).await?
    {
        let what = match &schedule.base_url {
            Some(base_url) => format!("`{base_url}`"),
            None => format!("what schedule {id} is about"),
        };
        return Err(running.refusal(what));
    }
    withdraw(transaction, id).await
}
