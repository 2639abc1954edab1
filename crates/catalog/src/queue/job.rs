//! Jobs: pieces of work that wait, run, or are over.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::database::Row;
use crate::harvests::begin::HARVESTED;
use crate::queue::{owner, quiet};

/// The kind of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// Harvests a repository, which no other job may do at the same time.
    Harvest,
    /// Tells others that a harvest ended.
    Hook,
    /// Imports a crawl into the collection. It is about no repository.
    Import,
    /// Judges the documents of the collection again. It is about no repository.
    Classify,
    /// Copies documents of the collection into one file. It is about no repository.
    Retrieve,
    /// Tells a search engine what changed in the collection. It is about no repository.
    Feed,
    /// Cleans the table of documents or that of parents. It is about no repository.
    Clean,
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
    /// Its kind.
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
    /// The name of the account or process that wants it.
    pub created_by: Option<String>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Its number.
    pub id: i64,
    /// Its kind.
    pub kind: JobKind,
    /// The number of the repository that it is about.
    pub repository: Option<i64>,
    /// Where the repository answers.
    pub base_url: Option<String>,
    /// The name of the repository.
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
    /// The key of jobs that never run at once with this one.
    pub exclusive: Option<String>,
    /// The host that it asks, whose slots are limited.
    pub host: Option<String>,
    /// The tags that a worker must have to run it.
    pub needs: Vec<String>,
    /// Why it was put back into the queue without having failed.
    pub put_off: Option<String>,
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
    /// The name of the account or process that wanted it.
    pub created_by: Option<String>,
    /// When it was last begun, in seconds.
    pub started: Option<i64>,
    /// When it was over, in seconds.
    pub finished: Option<i64>,
    /// The number of the history entry that it writes.
    pub harvest: Option<i64>,
    /// The number of the import that it does.
    pub import: Option<i64>,
}

/// How far a job is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobProgress {
    /// The part that is done: in records for a harvest, in bytes for an import, in documents where these are judged.
    pub done: u64,
    /// The whole, if it is known.
    pub total: Option<u64>,
    /// The outcome so far, in words.
    pub note: Option<String>,
    /// The last thing that the worker did for it.
    pub activity: Option<Activity>,
}

/// A worker's activity for a job, and the reason it waits. Times are in seconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activity {
    /// The current step, such as "narrowing to 1-second spans, step 26 of 28".
    pub step: Option<String>,
    /// The last request that was sent.
    pub request: Option<String>,
    /// When it was sent.
    pub requested: Option<i64>,
    /// The answer to that request, such as "503 Service Unavailable", or why there was none. Nothing while it is awaited.
    pub answer: Option<String>,
    /// When it came.
    pub answered: Option<i64>,
    /// Whether the answer is good and its body is being read.
    pub is_reading: bool,
    /// Why the last attempt that failed did so, whichever request it was.
    pub refusal: Option<String>,
    /// When it failed.
    pub refused: Option<i64>,
    /// How many attempts failed since the last page of a list that could be read as a whole.
    pub refusals: u64,
    /// How many attempts failed since the job was begun.
    pub all_refusals: u64,
    /// When the next attempt is made.
    pub next_attempt: Option<i64>,
}

impl Activity {
    /// Notes a request that is sent. The answer to the one before it is not its own.
    pub fn ask(&mut self, now: i64, request: impl Into<String>) {
        self.request = Some(request.into());
        self.requested = Some(now);
        self.answer = None;
        self.answered = None;
        self.is_reading = false;
        self.next_attempt = None;
    }

    /// Notes an answer that came.
    pub fn answer(&mut self, now: i64, answer: impl Into<String>) {
        self.answer = Some(answer.into());
        self.answered = Some(now);
    }

    /// Notes an attempt that failed.
    pub fn refuse(&mut self, now: i64, reason: &str) {
        self.answer(now, reason);
        self.is_reading = false;
        self.refusal = Some(reason.to_owned());
        self.refused = Some(now);
        self.refusals += 1;
        self.all_refusals += 1;
    }
}

impl NewJob {
    /// A harvest of everything of a repository in one format, due at once and tried once.
    pub fn harvest(repository: i64, metadata_prefix: impl Into<String>) -> Self {
        Self {
            metadata_prefix: metadata_prefix.into(),
            ..Self::of_kind(JobKind::Harvest, Some(repository))
        }
    }

    /// A hook about a repository, due at once and tried once.
    pub fn hook(repository: Option<i64>, parameters: impl Into<String>) -> Self {
        Self {
            parameters: parameters.into(),
            ..Self::of_kind(JobKind::Hook, repository)
        }
    }

    /// An import, due at once and tried once. What is imported is in its parameters: JSON.
    pub fn import(parameters: impl Into<String>) -> Self {
        Self {
            parameters: parameters.into(),
            ..Self::of_kind(JobKind::Import, None)
        }
    }

    /// The collection judged again, due at once and tried once. How is in its parameters: JSON.
    pub fn classify(parameters: impl Into<String>) -> Self {
        Self {
            parameters: parameters.into(),
            ..Self::of_kind(JobKind::Classify, None)
        }
    }

    /// Documents copied into one file, due at once and tried once. Which is in its parameters: JSON.
    pub fn retrieve(parameters: impl Into<String>) -> Self {
        Self {
            parameters: parameters.into(),
            ..Self::of_kind(JobKind::Retrieve, None)
        }
    }

    /// Changes told to a search engine, due at once and tried once. Which one is in its parameters: JSON.
    pub fn feed(parameters: impl Into<String>) -> Self {
        Self {
            parameters: parameters.into(),
            ..Self::of_kind(JobKind::Feed, None)
        }
    }

    /// A cleaning, due at once and tried once. Which is in its parameters: JSON.
    pub fn clean(parameters: impl Into<String>) -> Self {
        Self {
            parameters: parameters.into(),
            ..Self::of_kind(JobKind::Clean, None)
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
    pub const ALL: [Self; 8] = [
        Self::Harvest,
        Self::Hook,
        Self::Import,
        Self::Classify,
        Self::Retrieve,
        Self::Feed,
        Self::Clean,
        Self::Quiet,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Harvest => "harvest",
            Self::Hook => "hook",
            Self::Import => "import",
            Self::Classify => "classify",
            Self::Retrieve => "retrieve",
            Self::Feed => "feed",
            Self::Clean => "clean",
            Self::Quiet => "quiet",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether no two of them run for one repository.
    pub(crate) fn is_exclusive(self) -> bool {
        matches!(self, Self::Harvest | Self::Quiet)
    }

    /// Whether they ask the repository's host, and take one of its slots.
    pub(crate) fn asks_host(self) -> bool {
        self == Self::Harvest
    }

    /// The action on the subject of such a job, in words: "is being harvested by …".
    pub(crate) fn doing(self, parameters: &str) -> String {
        match self {
            Self::Harvest => HARVESTED.to_owned(),
            Self::Hook => "being told about".to_owned(),
            Self::Import => "being imported".to_owned(),
            Self::Classify => "being judged".to_owned(),
            Self::Retrieve => "being retrieved".to_owned(),
            Self::Feed => "being told to a search engine".to_owned(),
            Self::Clean => "being cleaned".to_owned(),
            Self::Quiet => quiet::in_words(parameters),
        }
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

    /// The state with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether nothing more happens to it by itself.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Cancelled)
    }
}

/// The columns of which a job is made.
pub(crate) const SELECT: &str = "SELECT job.id, job.kind, job.repository_id, repository.base_url, \
     repository.name AS repository_name, job.schedule_id, job.metadata_prefix, job.set_spec, job.parameters, \
     job.state, job.priority, job.run_at, job.attempt, job.max_attempts, job.lease_owner, job.cancel_requested, \
     job.progress_done, job.progress_total, job.progress_note, job.activity, job.exclusive, job.host, job.needs, job.put_off, job.error, job.created, job.created_by, job.started, \
     job.finished, (SELECT max(history.id) FROM history WHERE history.job_id = job.id) AS harvest, \
     (SELECT max(import.id) FROM import WHERE import.job_id = job.id) AS import \
     FROM job LEFT JOIN repository ON repository.id = job.repository_id";

/// The tags that parameters of a job name as those which its worker needs.
pub(crate) fn needs(parameters: &str) -> Vec<String> {
    let parameters: serde_json::Value = serde_json::from_str(parameters).unwrap_or_default();
    let needs = parameters["needs"].as_array().into_iter().flatten();
    needs
        .filter_map(|tag| tag.as_str().map(str::to_owned))
        .collect()
}

/// Tags, from the parameter that they were written as.
pub(crate) fn tags(written: Option<&str>) -> Vec<String> {
    let rows: Vec<(String,)> = serde_json::from_str(written.unwrap_or("[]")).unwrap_or_default();
    rows.into_iter().map(|(tag,)| tag).collect()
}

/// The activity of a job, unless another version wrote it.
pub(crate) fn activity(row: &Row) -> Result<Option<Activity>, Error> {
    let text = row.maybe_text("activity")?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

pub(crate) fn job(row: &Row) -> Result<Job, Error> {
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
        // Less than none if it is not to be tried again should it fail.
        max_attempts: row.integer("max_attempts")?.abs(),
        exclusive: row.maybe_text("exclusive")?,
        host: row.maybe_text("host")?,
        needs: tags(row.maybe_text("needs")?.as_deref()),
        put_off: row.maybe_text("put_off")?,
        worker: row
            .maybe_text("lease_owner")?
            .as_deref()
            .map(owner::described),
        cancel_requested: row.flag("cancel_requested")?,
        progress: JobProgress {
            done: row.count("progress_done")?,
            total: row.maybe_integer("progress_total")?.map(count),
            note: row.maybe_text("progress_note")?,
            activity: activity(row)?,
        },
        error: row.maybe_text("error")?,
        created: row.integer("created")?,
        created_by: row.maybe_text("created_by")?,
        started: row.maybe_integer("started")?,
        finished: row.maybe_integer("finished")?,
        harvest: row.maybe_integer("harvest")?,
        import: row.maybe_integer("import")?,
    })
}
