//! How schedules become jobs. When they are due is not decided here.

use crate::queue::ends::URGENT;
use crate::queue::jobs::{self, lock_queue};
use crate::queue::schedule::{SELECT, schedule};
use crate::queue::schedules::read;
use crate::{Catalog, Error, Job, NewJob, Schedule, ScheduleState};

impl Catalog {
    /// The time of the database, in seconds.
    pub async fn now(&self) -> Result<i64, Error> {
        let mut transaction = self.database.read().await?;
        let row = transaction.row("SELECT {now} AS now", []).await?;
        row.map_or(Ok(0), |row| row.integer("now"))
    }

    /// The time of the database, and schedules that need a job: new ones, and others whose last one is over.
    ///
    /// One that was changed while its job runs is among them when that is over.
    pub async fn to_plan(&self, limit: u64) -> Result<(i64, Vec<Schedule>), Error> {
        let mut transaction = self.database.read().await?;
        let row = transaction.row("SELECT {now} AS now", []).await?;
        let now = row.map_or(Ok(0), |row| row.integer("now"))?;
        let sql = format!(
            "{SELECT} WHERE schedule.state IN ('new', 'recurring', 'once') AND job.id IS NULL
             ORDER BY schedule.id LIMIT $1"
        );
        let rows = transaction.rows(&sql, [limit.into()]).await?;
        let schedules = rows.iter().map(schedule).collect::<Result<_, _>>()?;
        Ok((now, schedules))
    }

    /// When the last job of a schedule was over, in seconds, as far as its jobs are kept.
    pub async fn last_end(&self, schedule: i64) -> Result<Option<i64>, Error> {
        let sql = "SELECT max(finished) AS finished FROM job
             WHERE schedule_id = $1 AND state IN ('finished', 'failed', 'cancelled')";
        let mut transaction = self.database.read().await?;
        let row = transaction.row(sql, [schedule.into()]).await?;
        row.map_or(Ok(None), |row| row.maybe_integer("finished"))
    }

    /// Makes the next job of a schedule, as it was given by [`Catalog::to_plan`], and says how the schedule stands now.
    /// Without a time for a job, only the latter.
    ///
    /// Gives no job if another manager was first, or somebody changed the schedule in the meantime.
    pub async fn plan(
        &self,
        schedule: &Schedule,
        run_at: Option<i64>,
        state: ScheduleState,
        max_attempts: i64,
    ) -> Result<Option<Job>, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        // Another's job may have come and gone since; it left its time.
        let sql = "UPDATE schedule SET state = $4
             WHERE id = $1 AND version = $2 AND state = $3
                 AND COALESCE(last_run, -1) = COALESCE($5, -1) AND COALESCE(skipped, -1) = COALESCE($6, -1)
                 AND NOT EXISTS (SELECT 1 FROM job
                     WHERE job.schedule_id = schedule.id AND job.state IN ('scheduled', 'running'))";
        let values = [
            schedule.id.into(),
            schedule.version.into(),
            schedule.state.name().into(),
            state.name().into(),
            schedule.last_run.into(),
            schedule.skipped.into(),
        ];
        if transaction.execute(sql, values).await? == 0 {
            return Ok(None);
        }
        let job = match run_at {
            Some(_) => {
                let new = NewJob {
                    run_at,
                    max_attempts,
                    ..of(schedule)
                };
                let id = jobs::insert(&mut transaction, &new).await?;
                Some(jobs::read(&mut transaction, id).await?)
            }
            None => None,
        };
        transaction.commit().await?;
        Ok(job)
    }

    /// Brings the waiting job of a schedule forward, after the clock jumped back. Tells whether there was one.
    ///
    /// One that waits to be tried again keeps its time, unless it was last begun at a time that is yet to come.
    pub async fn replan(&self, schedule: &Schedule, run_at: i64) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let sql = "UPDATE job SET run_at = $2
             WHERE schedule_id = $1 AND state = 'scheduled' AND run_at > $2
                 AND (attempt = 0 OR started > {now})
                 AND EXISTS (SELECT 1 FROM schedule WHERE id = $1 AND version = $3)";
        let values = [schedule.id.into(), run_at.into(), schedule.version.into()];
        let changed = transaction.execute(sql, values).await?;
        transaction.commit().await?;
        Ok(changed > 0)
    }

    /// Makes jobs due that were due when they were put into the queue, or last begun, at a time that is yet to come: the
    /// clock was ahead then. Tells how many there were. [`Catalog::replan`] is for those of schedules that recur.
    pub async fn replan_others(&self) -> Result<u64, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let sql = "UPDATE job SET run_at = {now}
             WHERE state = 'scheduled' AND run_at > {now}
                 AND (run_at <= created OR (attempt > 0 AND started > {now}))
                 AND (schedule_id IS NULL OR schedule_id IN (SELECT id FROM schedule WHERE state <> 'recurring'))";
        let changed = transaction.execute(sql, []).await?;
        transaction.commit().await?;
        Ok(changed)
    }

    /// Lets a schedule run now: its waiting job is due at once, or one is made, also if the schedule is paused or has
    /// ended. A job that runs is given as it is.
    pub async fn run_schedule_now(
        &self,
        id: i64,
        max_attempts: i64,
        by: Option<&str>,
    ) -> Result<Job, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        let schedule = read(&mut transaction, id).await?;
        let job = match schedule.job {
            Some(job) => job,
            None => {
                let new = NewJob {
                    priority: URGENT,
                    max_attempts,
                    created_by: by.map(Into::into),
                    ..of(&schedule)
                };
                jobs::insert(&mut transaction, &new).await?
            }
        };
        let sql = "UPDATE job SET run_at = {now}, created_by = COALESCE($3, created_by),
                 priority = CASE WHEN priority < $2 THEN $2 ELSE priority END
             WHERE id = $1 AND state = 'scheduled' AND run_at > {now}";
        let values = [job.into(), URGENT.into(), by.into()];
        transaction.execute(sql, values).await?;
        let job = jobs::read(&mut transaction, job).await?;
        transaction.commit().await?;
        Ok(job)
    }
}

/// The job of a schedule, due at once.
fn of(schedule: &Schedule) -> NewJob {
    let settings = &schedule.settings;
    NewJob {
        kind: settings.what.kind(),
        repository: settings.what.repository(),
        schedule: Some(schedule.id),
        metadata_prefix: settings.what.metadata_prefix().to_owned(),
        set: settings.what.set().map(str::to_owned),
        parameters: settings.parameters.clone(),
        run_at: None,
        priority: 0,
        max_attempts: 1,
        created_by: None,
    }
}
