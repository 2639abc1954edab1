//! Jobs: one piece of work each, that waits, runs, or is over.
//!
//! How a job is claimed is in `claims`, how it is kept in `beats`, how it ends in `ends`.

use serde::{Deserialize, Serialize};

use crate::database::{Row, Transaction};
use crate::rows::batch;
use crate::{Catalog, Error, owner};

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// Harvests a repository, which no other job may do at the same time.
    Harvest,
    /// Tells others that a harvest ended.
    Hook,
    /// Keeps harvests away from a repository while somebody else reads what is held of it.
    Quiet,
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It waits for its time, or for a worker.
    Scheduled,
    /// A worker has it.
    Running,
    /// It came to its end.
    Finished,
    /// It did not, and is not tried again.
    Failed,
    /// Somebody withdrew or stopped it.
    Cancelled,
}

/// A job to be put into the queue.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// What it does.
    pub kind: JobKind,
    /// The number of the repository that it is about.
    pub repository: Option<i64>,
    /// The number of the schedule that it belongs to.
    pub schedule: Option<i64>,
    /// The format, for a harvest.
    pub metadata_prefix: String,
    /// The set, or all.
    pub set: Option<String>,
    /// Everything else, as JSON.
    pub parameters: String,
    /// When it is due, in seconds; at once if that is not said.
    pub run_at: Option<i64>,
    /// Of those that are due, the one with the greatest number goes first.
    pub priority: i64,
    /// How often it is tried.
    pub max_attempts: i64,
    /// Who wants it.
    pub created_by: Option<String>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Its number.
    pub id: i64,
    /// What it does.
    pub kind: JobKind,
    /// The number of the repository that it is about.
    pub repository: Option<i64>,
    /// Where the repository answers.
    pub base_url: Option<String>,
    /// What the repository calls itself.
    pub repository_name: Option<String>,
    /// The number of the schedule that it belongs to.
    pub schedule: Option<i64>,
    /// The format, for a harvest.
    pub metadata_prefix: String,
    /// The set, or all.
    pub set: Option<String>,
    /// Everything else: JSON.
    pub parameters: String,
    /// How it stands.
    pub state: JobState,
    /// Of those that are due, the one with the greatest number goes first.
    pub priority: i64,
    /// When it is or was due, in seconds.
    pub run_at: i64,
    /// How often it was begun, but for when it was given back.
    pub attempt: i64,
    /// How often it is tried.
    pub max_attempts: i64,
    /// The worker that has it, or had it last, in words.
    pub worker: Option<String>,
    /// Whether it was asked to stop.
    pub cancel_requested: bool,
    /// How far it is.
    pub progress: JobProgress,
    /// Why it failed, the last time if it is tried again.
    pub error: Option<String>,
    /// When it was put into the queue, in seconds.
    pub created: i64,
    /// Who wanted it.
    pub created_by: Option<String>,
    /// When it was last begun, in seconds.
    pub started: Option<i64>,
    /// When it was over, in seconds.
    pub finished: Option<i64>,
    /// The number of the history entry that it writes.
    pub harvest: Option<i64>,
}

/// How far a job is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobProgress {
    /// What is done, in records for a harvest.
    pub done: u64,
    /// What there is to be done, if that is known.
    pub total: Option<u64>,
    /// What is being done, in words.
    pub note: Option<String>,
}

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
        lock_queue(&mut transaction).await?;
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
        let mut transaction = self.database.read().await?;
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

    /// Removes jobs that have been over for longer than this, with their logs, and tells how many that were.
    pub async fn remove_jobs(&self, older_than_seconds: i64) -> Result<u64, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM job WHERE state IN ('finished', 'failed', 'cancelled')
             AND finished < {now} - $1";
        let removed = transaction
            .execute(sql, [older_than_seconds.into()])
            .await?;
        transaction.commit().await?;
        Ok(removed)
    }
}

/// Any number that nobody else locks in the same PostgreSQL database: letters of the name, and one more than
/// migrations take.
const QUEUE: i64 = 0x67_61_72_6e_65_73;

/// Lets one transaction at a time change how jobs and schedules stand.
///
/// Each looks at several rows before it writes one. They are short and few, while the pages of harvests, which are many,
/// do without. After this lock come those on a repository, then a job, then a history entry, in this order everywhere.
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
             run_at, priority, max_attempts, created_by, created)
         VALUES ($1, $2, $3, $4, $5, $6, 'scheduled', COALESCE($7, {now}), $8, $9, $10, {now}) RETURNING id";
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
    ];
    let row = transaction.row(sql, values).await?;
    row.ok_or(Error::UnknownJob { id: 0 })?.integer("id")
}

const SELECT: &str = "SELECT job.id, job.kind, job.repository_id, repository.base_url, \
     repository.name AS repository_name, job.schedule_id, job.metadata_prefix, job.set_spec, job.parameters, \
     job.state, job.priority, job.run_at, job.attempt, job.max_attempts, job.lease_owner, job.cancel_requested, \
     job.progress_done, job.progress_total, job.progress_note, job.error, job.created, job.created_by, job.started, \
     job.finished, (SELECT max(history.id) FROM history WHERE history.job_id = job.id) AS harvest \
     FROM job LEFT JOIN repository ON repository.id = job.repository_id";

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
    let order = match state {
        JobState::Scheduled => "job.run_at, job.id",
        _ => "job.id DESC",
    };
    let name = state.name();
    // What is not asked for is left out of the statement, so that an index can be chosen for what is.
    let of = |column: &str, number: Option<i64>, at| match number {
        Some(_) => format!("AND job.{column} = ${at}"),
        None => format!("AND ${at} IS NULL"),
    };
    let repository = of("repository_id", query.repository, 4);
    let schedule = of("schedule_id", query.schedule, 5);
    let sql = format!(
        "{SELECT} WHERE job.state = '{name}' AND job.id < $1 AND ($2 = 0 OR job.kind {{texts($3)}})
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

fn job(row: &Row) -> Result<Job, Error> {
    let count = |number: i64| number.try_into().unwrap_or_default();
    Ok(Job {
        id: row.integer("id")?,
        kind: JobKind::parse(&row.text("kind")?).unwrap_or(JobKind::Hook),
        repository: row.maybe_integer("repository_id")?,
        base_url: row.maybe_text("base_url")?,
        repository_name: row.maybe_text("repository_name")?,
        schedule: row.maybe_integer("schedule_id")?,
        metadata_prefix: row.text("metadata_prefix")?,
        set: Some(row.text("set_spec")?).filter(|set| !set.is_empty()),
        parameters: row.text("parameters")?,
        state: JobState::parse(&row.text("state")?).unwrap_or(JobState::Failed),
        priority: row.integer("priority")?,
        run_at: row.integer("run_at")?,
        attempt: row.integer("attempt")?,
        max_attempts: row.integer("max_attempts")?,
        worker: row
            .maybe_text("lease_owner")?
            .as_deref()
            .map(owner::described),
        cancel_requested: row.flag("cancel_requested")?,
        progress: JobProgress {
            done: row.count("progress_done")?,
            total: row.maybe_integer("progress_total")?.map(count),
            note: row.maybe_text("progress_note")?,
        },
        error: row.maybe_text("error")?,
        created: row.integer("created")?,
        created_by: row.maybe_text("created_by")?,
        started: row.maybe_integer("started")?,
        finished: row.maybe_integer("finished")?,
        harvest: row.maybe_integer("harvest")?,
    })
}

impl NewJob {
    /// A harvest of everything of a repository in one format, due at once and tried once.
    pub fn harvest(repository: i64, metadata_prefix: impl Into<String>) -> Self {
        Self {
            metadata_prefix: metadata_prefix.into(),
            ..Self::of_kind(JobKind::Harvest, Some(repository))
        }
    }

    /// What is to be told about a repository, due at once and tried once.
    pub fn hook(repository: Option<i64>, parameters: impl Into<String>) -> Self {
        Self {
            parameters: parameters.into(),
            ..Self::of_kind(JobKind::Hook, repository)
        }
    }

    fn of_kind(kind: JobKind, repository: Option<i64>) -> Self {
        Self {
            kind,
            repository,
            schedule: None,
            metadata_prefix: String::new(),
            set: None,
            parameters: "{}".to_owned(),
            run_at: None,
            priority: 0,
            max_attempts: 1,
            created_by: None,
        }
    }
}

impl JobKind {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Harvest, Self::Hook, Self::Quiet];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Harvest => "harvest",
            Self::Hook => "hook",
            Self::Quiet => "quiet",
        }
    }

    /// What the word means.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl JobState {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::Scheduled,
        Self::Running,
        Self::Finished,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// What the word means.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether nothing more happens to it by itself.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Cancelled)
    }
}
