//! The queue: jobs put into it, listed, and removed.
//!
//! How a job is claimed is in `claims`, how it is kept in `beats`, how it ends in `ends`.

use crate::database::rows::{BATCH, batch};
use crate::database::{Transaction, Value};
use crate::queue::job::{SELECT, job, needs};
use crate::{Catalog, Error, Job, JobKind, JobState, NewJob};

/// Which jobs are wanted.
#[derive(Debug, Clone)]
pub struct JobQuery {
    /// Those that stand so; all if none is named.
    pub states: Vec<JobState>,
    /// Those that do this; all if none is named.
    pub kinds: Vec<JobKind>,
    /// Those about one repository.
    pub repository: Option<i64>,
    /// Those of one schedule.
    pub schedule: Option<i64>,
    /// Those with a smaller number, for the next page. Those that wait are on the first one only.
    pub before: Option<i64>,
    /// How many at most.
    pub limit: u64,
}

impl Default for JobQuery {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            kinds: Vec::new(),
            repository: None,
            schedule: None,
            before: None,
            limit: 100,
        }
    }
}

impl Catalog {
    /// Puts a job into the queue.
    pub async fn add_job(&self, new: &NewJob) -> Result<Job, Error> {
        let mut transaction = self.database.write().await?;
        let id = insert(&mut transaction, new).await?;
        let job = read(&mut transaction, id).await?;
        transaction.commit().await?;
        Ok(job)
    }

    /// The job with this number.
    pub async fn job(&self, id: i64) -> Result<Option<Job>, Error> {
        find(&mut self.database.read().await?, id).await
    }

    /// Jobs: those that run, then those that wait in the order of their times, then the others; the newest first.
    pub async fn jobs(&self, query: &JobQuery) -> Result<Vec<Job>, Error> {
        let mut transaction = self.database.list().await?;
        let wanted = |state: &JobState| query.states.is_empty() || query.states.contains(state);
        let (mut running, mut waiting, mut over) = (Vec::new(), Vec::new(), Vec::new());
        // One state after the other, because each is in the order of its index.
        for state in JobState::ALL.into_iter().filter(wanted) {
            let list = match state {
                JobState::Running => &mut running,
                JobState::Scheduled if query.before.is_some() => continue,
                JobState::Scheduled => &mut waiting,
                _ => &mut over,
            };
            list.append(&mut listed(&mut transaction, query, state).await?);
        }
        over.sort_unstable_by_key(|job| std::cmp::Reverse(job.id));
        let mut jobs = running;
        jobs.append(&mut waiting);
        jobs.append(&mut over);
        jobs.truncate(query.limit.try_into().unwrap_or(usize::MAX));
        Ok(jobs)
    }

    /// When the next job is due, in seconds; that may have been already.
    pub async fn next_due(&self) -> Result<Option<i64>, Error> {
        let sql = "SELECT run_at FROM job WHERE state = 'scheduled' ORDER BY run_at LIMIT 1";
        let row = self.database.read().await?.row(sql, []).await?;
        row.map(|row| row.integer("run_at")).transpose()
    }

    /// Removes a job that is over, with its log. Tells whether there was one.
    pub async fn remove_job(&self, id: i64) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM job WHERE id = $1 AND state IN ('finished', 'failed', 'cancelled')";
        let removed = transaction.execute(sql, [id.into()]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }

    /// Removes jobs that have been over for longer than this, with their logs, and tells how many that were.
    pub async fn remove_jobs(&self, older_than_seconds: i64) -> Result<u64, Error> {
        // A few at a time, so that harvests that run are not kept waiting. One of them may be tried again meanwhile.
        let sql = format!(
            "DELETE FROM job WHERE state IN ('finished', 'failed', 'cancelled') AND id IN (
                 SELECT id FROM job WHERE state IN ('finished', 'failed', 'cancelled') AND finished < {{now}} - $1
                 ORDER BY id LIMIT {BATCH})"
        );
        let mut removed = 0;
        loop {
            let mut transaction = self.database.write().await?;
            let some = transaction
                .execute(&sql, [older_than_seconds.into()])
                .await?;
            transaction.commit().await?;
            removed += some;
            // Fewer than looked for if one was tried again: the next time finds what is left.
            if some < BATCH as u64 {
                return Ok(removed);
            }
        }
    }
}

/// Any number that nobody else locks in the same PostgreSQL database: letters of the name, and one more than
/// migrations take.
pub(crate) const QUEUE: i64 = 0x67_61_72_6e_65_73;

/// Lets one transaction at a time plan, cancel or begin something.
///
/// Each of these looks at several rows before it writes one, and they are few. Claims, ends of jobs and pages of harvests,
/// which are many, do without: they write rows that they hold. After this lock come those on a repository, then a job, then
/// a schedule, a history entry or an import, in this order everywhere.
pub(crate) async fn lock_queue(transaction: &mut Transaction) -> Result<(), Error> {
    transaction.take(QUEUE).await
}

pub(crate) async fn insert(transaction: &mut Transaction, new: &NewJob) -> Result<i64, Error> {
    if let Some(id) = new.repository {
        let sql = "SELECT id FROM repository WHERE id = $1";
        let known = transaction.row(sql, [id.into()]).await?;
        known.ok_or(Error::UnknownRepository { id })?;
    }
    if let Some(id) = new.schedule {
        let sql = "SELECT id FROM schedule WHERE id = $1";
        let known = transaction.row(sql, [id.into()]).await?;
        known.ok_or(Error::UnknownSchedule { id })?;
    }
    let sql = "INSERT INTO job (kind, repository_id, schedule_id, metadata_prefix, set_spec, parameters, state,
             run_at, priority, max_attempts, created_by, created, exclusive, host, needs)
         VALUES ($1, $2, $3, $4, $5, $6, 'scheduled', COALESCE($7, {now}), $8, $9, $10, {now}, $11,
             (SELECT host FROM repository WHERE id = $12), $13) RETURNING id";
    let exclusive = new.repository.filter(|_| new.kind.is_exclusive());
    let asked = new.repository.filter(|_| new.kind.asks_host());
    let needs: Vec<_> = needs(&new.parameters)
        .into_iter()
        .map(|tag| (tag,))
        .collect();
    let needs = match needs.is_empty() {
        true => Value::Text(None),
        false => batch(&needs),
    };
    let values = [
        new.kind.name().into(),
        new.repository.into(),
        new.schedule.into(),
        new.metadata_prefix.as_str().into(),
        new.set.as_deref().unwrap_or_default().into(),
        new.parameters.as_str().into(),
        new.run_at.into(),
        new.priority.into(),
        new.max_attempts.max(1).into(),
        new.created_by.as_deref().into(),
        exclusive.map(exclusive_key).as_deref().into(),
        asked.into(),
        needs,
    ];
    let row = transaction.row(sql, values).await?;
    row.ok_or(Error::UnknownJob { id: 0 })?.integer("id")
}

/// The key of jobs that have a repository for themselves.
pub(crate) fn exclusive_key(repository: i64) -> String {
    format!("repository {repository}")
}

/// The job with this number, or an error.
pub(crate) async fn read(transaction: &mut Transaction, id: i64) -> Result<Job, Error> {
    let job = find(transaction, id).await?;
    job.ok_or(Error::UnknownJob { id })
}

pub(crate) async fn find(transaction: &mut Transaction, id: i64) -> Result<Option<Job>, Error> {
    let sql = format!("{SELECT} WHERE job.id = $1");
    let row = transaction.row(&sql, [id.into()]).await?;
    row.as_ref().map(job).transpose()
}

async fn listed(
    transaction: &mut Transaction,
    query: &JobQuery,
    state: JobState,
) -> Result<Vec<Job>, Error> {
    let (before, order) = match state {
        JobState::Scheduled => ("$1 > 0", "job.run_at, job.id"),
        _ => ("job.id < $1", "job.id DESC"),
    };
    let name = state.name();
    // Conditions that are not asked for are left out, so that the database chooses an index for the others.
    let of = |column: &str, number: Option<i64>, at| match number {
        Some(_) => format!("AND job.{column} = ${at}"),
        None => format!("AND ${at} IS NULL"),
    };
    let repository = of("repository_id", query.repository, 4);
    let schedule = of("schedule_id", query.schedule, 5);
    let sql = format!(
        "{SELECT} WHERE job.state = '{name}' AND {before} AND ($2 = 0 OR job.kind {{texts($3)}})
         {repository} {schedule} ORDER BY {order} LIMIT $6"
    );
    let kinds: Vec<_> = query.kinds.iter().map(|kind| (kind.name(),)).collect();
    let values = [
        query.before.unwrap_or(i64::MAX).into(),
        (!kinds.is_empty()).into(),
        batch(&kinds),
        query.repository.into(),
        query.schedule.into(),
        query.limit.into(),
    ];
    let rows = transaction.rows(&sql, values).await?;
    rows.iter().map(job).collect()
}
