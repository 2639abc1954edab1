//! A job as the command line, the API and pages show it.

use catalog::{JobKind, JobState, LogLevel};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::why::{JobActivity, Why};
use crate::Time;

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Job {
    /// Its number.
    pub id: i64,
    /// `harvest`, `hook`, `import`, `classify`, `retrieve`, `feed`, `clean` or `quiet`.
    #[schema(value_type = String, example = "harvest")]
    pub kind: JobKind,
    /// `scheduled`, `running`, `finished`, `failed` or `cancelled`.
    #[schema(value_type = String, example = "scheduled")]
    pub state: JobState,
    /// The number of the repository that it is about.
    pub repository: Option<i64>,
    /// Where the repository answers.
    pub base_url: Option<String>,
    /// The name of the repository.
    pub repository_name: Option<String>,
    /// The number of the schedule that it belongs to.
    pub schedule: Option<i64>,
    /// The format; empty if it is not about one.
    pub metadata_prefix: String,
    /// The set, or all.
    pub set: Option<String>,
    /// Its order.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// When it is due.
    pub run_at: Time,
    /// The tags that a worker must have to run it.
    pub needs: Vec<String>,
    /// How often it was begun.
    pub attempt: i64,
    /// How often it is tried at most.
    pub max_attempts: i64,
    /// The worker that has it, or had it last.
    pub worker: Option<String>,
    /// Whether it was asked to stop.
    pub cancel_requested: bool,
    /// Records so far for a harvest, bytes for an import, documents for a classification.
    pub done: u64,
    /// Records, bytes or documents in all, if that is known.
    pub total: Option<u64>,
    /// The outcome so far.
    pub note: Option<String>,
    /// Why a job that waits has not begun, or what one that runs does.
    pub why: Option<Why>,
    /// The last thing that the worker of a job that runs did.
    pub activity: Option<JobActivity>,
    /// Why it failed, the last time.
    pub error: Option<String>,
    /// When it was added.
    pub created: Time,
    /// The account that added it.
    pub created_by: Option<String>,
    /// When it was begun.
    pub started: Option<Time>,
    /// When it was over.
    pub finished: Option<Time>,
    /// The number of its entry in the history.
    pub harvest: Option<i64>,
    /// The number of its import.
    pub import: Option<i64>,
}

/// A line of a job's log.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LogLine {
    /// Its number.
    pub id: i64,
    /// When it was written.
    pub at: Time,
    /// `info`, `warning` or `error`.
    #[schema(value_type = String, example = "info")]
    pub level: LogLevel,
    /// Its text.
    pub message: String,
}

/// A job that was cancelled, or asked to stop.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CancelledJob {
    /// Whether it runs and was asked to stop; otherwise it is cancelled already.
    pub asked: bool,
    /// The job as it is now.
    pub job: Job,
}

impl From<catalog::Job> for Job {
    fn from(job: catalog::Job) -> Self {
        Self {
            id: job.id,
            kind: job.kind,
            state: job.state,
            repository: job.repository,
            base_url: job.base_url,
            repository_name: job.repository_name,
            schedule: job.schedule,
            metadata_prefix: job.metadata_prefix,
            set: job.set,
            parameters: serde_json::from_str(&job.parameters).unwrap_or_default(),
            run_at: Time(job.run_at),
            needs: job.needs,
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            worker: job.worker,
            cancel_requested: job.cancel_requested,
            done: job.progress.done,
            total: job.progress.total,
            note: job.progress.note,
            why: None,
            activity: job
                .progress
                .activity
                .filter(|_| job.state == JobState::Running)
                .map(Into::into),
            error: job.error,
            created: Time(job.created),
            created_by: job.created_by,
            started: job.started.map(Time),
            finished: job.finished.map(Time),
            harvest: job.harvest,
            import: job.import,
        }
    }
}

impl From<catalog::LogLine> for LogLine {
    fn from(line: catalog::LogLine) -> Self {
        Self {
            id: line.id,
            at: Time(line.at),
            level: line.level,
            message: line.message,
        }
    }
}
