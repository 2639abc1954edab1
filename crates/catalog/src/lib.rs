#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod beats;
mod bounded;
mod catalog;
mod claims;
mod database;
mod dialect;
mod ends;
mod error;
mod formats;
mod history;
mod host;
mod job_log;
mod jobs;
mod memberships;
mod migrations;
mod owner;
mod page;
mod planning;
mod quiet;
mod records;
mod repositories;
mod rows;
mod runs;
mod schedules;
mod sets;

pub use beats::{Answer, Beat, Heard};
pub use catalog::Catalog;
pub use claims::{Claim, ClaimOptions, JobLease};
pub use ends::{Cancelled, JobEnd};
pub use error::Error;
pub use formats::MetadataFormat;
pub use history::{Counts, HistoryEntry, HistoryQuery, State, Warning};
pub use job_log::{LogLevel, LogLine};
pub use jobs::{Job, JobKind, JobProgress, JobQuery, JobState, NewJob};
pub use page::{Outcome, PageCommit, RecordRow, Validation};
pub use records::{FormatCounts, Known, RecordEntry, RecordQuery};
pub use repositories::{Identity, Repository, RepositoryCounts};
pub use runs::{Finish, NewRun, Run};
pub use schedules::{Schedule, ScheduleQuery, ScheduleSettings, ScheduleState};
pub use sets::Set;
