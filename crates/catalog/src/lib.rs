#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod accounts;
mod again;
mod audit;
mod beats;
mod begin;
mod bounded;
mod catalog;
mod claims;
mod collection;
mod conditions;
mod database;
mod dialect;
mod ends;
mod error;
mod formats;
mod health;
mod history;
mod holding;
mod host;
mod identity;
mod imports;
mod job;
mod job_log;
mod jobs;
mod judgements;
mod memberships;
mod migrations;
mod overview;
mod owner;
mod page;
mod planning;
mod quiet;
mod rarity;
mod record_statement;
mod records;
mod removal;
mod repositories;
mod retention;
mod roles;
mod rows;
mod rules;
mod running;
mod runs;
mod schedule;
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
pub use collection::{
    ContentEntry, DocumentEntry, DocumentQuery, DocumentState, OutdatedMet, ParentEntry,
    ParentQuery, VersionEntry,
};
pub use ends::{Cancelled, JobEnd, URGENT};
pub use error::Error;
pub use formats::MetadataFormat;
pub use health::{Health, HealthCounts};
pub use history::{Counts, HistoryEntry, HistoryQuery, State, Warning};
pub use imports::{
    CaptureOutcome, CaptureRow, ContentRow, FinishImport, GroupCommit, GroupOutcome, Import,
    ImportCounters, ImportEntry, ImportQuery, ImportState, ImportWarning, Lacking, NewImport,
    NewSource, ParentRow, Placement, SourcePosition, Superfluous,
};
pub use job::{Job, JobKind, JobProgress, JobState, NewJob};
pub use job_log::{LogLevel, LogLine};
pub use jobs::JobQuery;
pub use judgements::{
    Corrected, Correction, JudgedContent, Judgement, JudgementQuery, JudgementRow, KnownContent,
    Probability,
};
pub use overview::{LastHarvest, RepositoryListQuery, RepositoryOverview, RepositorySort};
pub use page::{Outcome, PageCommit, RecordRow, Validation};
pub use records::{FormatCounts, Known, Order, RecordEntry, RecordQuery};
pub use repositories::{Identity, Repository, RepositoryCounts};
pub use roles::Role;
pub use rules::{Rules, RulesKind};
pub use runs::{Finish, NewRun, Run};
pub use schedule::{Schedule, ScheduleSettings, ScheduleState, Scheduled};
pub use schedules::ScheduleQuery;
pub use search::{IndexedRecord, Unindexed};
pub use sets::Set;
pub use statistics::{Bucket, JobCounts, Totals};
pub use tokens::Token;
