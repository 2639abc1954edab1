#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod accounts;
mod audit;
mod beats;
mod bounded;
mod catalog;
mod claims;
mod conditions;
mod database;
mod dialect;
mod ends;
mod error;
mod formats;
mod history;
mod holding;
mod host;
mod job_log;
mod jobs;
mod memberships;
mod migrations;
mod overview;
mod owner;
mod page;
mod planning;
mod quiet;
mod record_statement;
mod records;
mod repositories;
mod roles;
mod rows;
mod rules;
mod runs;
mod schedules;
mod search;
mod sessions;
mod sets;
mod statistics;
mod tokens;
mod words;

pub use accounts::Account;
pub use audit::{AuditEntry, AuditQuery, AuditRow};
pub use beats::{Answer, Beat, Heard};
pub use catalog::Catalog;
pub use claims::{Claim, ClaimOptions, JobLease};
pub use ends::{Cancelled, JobEnd};
pub use error::Error;
pub use formats::MetadataFormat;
pub use history::{Counts, HistoryEntry, HistoryQuery, State, Warning};
pub use job_log::{LogLevel, LogLine};
pub use jobs::{Job, JobKind, JobProgress, JobQuery, JobState, NewJob};
pub use overview::{
    Health, HealthCounts, LastHarvest, RepositoryListQuery, RepositoryOverview, RepositorySort,
};
pub use page::{Outcome, PageCommit, RecordRow, Validation};
pub use records::{FormatCounts, Known, Order, RecordEntry, RecordQuery};
pub use repositories::{Identity, Repository, RepositoryCounts};
pub use roles::Role;
pub use rules::{Rules, RulesKind};
pub use runs::{Finish, NewRun, Run};
pub use schedules::{Schedule, ScheduleQuery, ScheduleSettings, ScheduleState};
pub use search::{IndexedRecord, Unindexed};
pub use sets::Set;
pub use statistics::{Bucket, JobCounts, Totals};
pub use tokens::Token;
