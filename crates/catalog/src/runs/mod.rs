//! Runs: everything that was done, is done or is to be done. A run is a job with its harvest or its import, or a harvest
//! or an import of a command.

mod failed;
pub(crate) mod gauges;
mod list;
mod load;
mod number;
mod sorted;

use crate::{HistoryEntry, ImportEntry, ImportState, Job, JobKind, JobState, State};

pub use self::failed::{FailedRun, FailedRuns};
pub use self::list::RunQuery;
pub(crate) use self::number::{new_number, note_resumed};
pub use self::sorted::RunOrder;

/// A run.
#[derive(Debug, Clone)]
pub struct RunRow {
    /// Its number: that of its job, or one of the same sequence.
    pub id: i64,
    /// Its job; a command has none, and one that was over long ago is removed.
    pub job: Option<Job>,
    /// Its harvest, the last one if there were several attempts.
    pub harvest: Option<HistoryEntry>,
    /// Its import, the last one if there were several attempts.
    pub import: Option<ImportEntry>,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// It has not begun, or was put back into the queue.
    Queued,
    /// It runs.
    Running,
    /// It is done.
    Ok,
    /// It reached its end, but something was skipped or failed.
    Incomplete,
    /// It did not reach its end.
    Failed,
    /// Somebody withdrew or stopped it.
    Cancelled,
}

impl RunRow {
    /// Its state: that of its job, and once that is over what came of it.
    pub fn state(&self) -> RunState {
        match self.job.as_ref().map(|job| job.state) {
            Some(JobState::Scheduled) => RunState::Queued,
            Some(JobState::Running) => RunState::Running,
            Some(JobState::Failed) => RunState::Failed,
            Some(JobState::Cancelled) => RunState::Cancelled,
            Some(JobState::Finished) | None => self.result(),
        }
    }

    fn result(&self) -> RunState {
        if let Some(harvest) = &self.harvest {
            return match harvest.state {
                State::Running => RunState::Running,
                State::Ok => RunState::Ok,
                State::Incomplete => RunState::Incomplete,
                State::Failed => RunState::Failed,
                State::Cancelled => RunState::Cancelled,
            };
        }
        match self.import.as_ref().map(|import| import.state) {
            Some(ImportState::Running) => RunState::Running,
            Some(ImportState::Ok) | None => RunState::Ok,
            Some(ImportState::Incomplete) => RunState::Incomplete,
            Some(ImportState::Failed) => RunState::Failed,
            Some(ImportState::Cancelled) => RunState::Cancelled,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> JobKind {
        match (&self.job, &self.import) {
            (Some(job), _) => job.kind,
            (None, Some(_)) => JobKind::Import,
            (None, None) => JobKind::Harvest,
        }
    }
}

impl RunState {
    /// All there are.
    pub const ALL: [Self; 6] = [
        Self::Queued,
        Self::Running,
        Self::Ok,
        Self::Incomplete,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Ok => "ok",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more happens to it by itself.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}
