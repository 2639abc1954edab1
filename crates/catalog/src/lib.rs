#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod catalog;
mod changes;
mod collection;
mod database;
mod error;
mod harvests;
mod imports;
mod people;
mod queue;
mod records;
mod repositories;
mod runs;
mod transfer;

pub use catalog::Catalog;
pub use changes::{
    ChangePage, ChangePosition, ChangeQuery, Changed, DocumentChange, Facet, GoneDocument,
    GoneRecord, ListPosition, Subject,
};
pub use collection::judgements::{
    Corrected, Correction, JudgedContent, Judgement, JudgementQuery, JudgementRow, KnownContent,
    Probability,
};
pub use collection::{
    CheckedLink, ContentEntry, DocumentEntry, DocumentFigures, DocumentOrder, DocumentQuery,
    DocumentState, Facets, FailedDocument, Figure, FoundDocument, IndexedText, LinkCheck,
    LinkOutcome, LinkQuery, ListContent, ListKind, NearDocument, NewReview, OutdatedMet,
    ParentEntry, ParentOrder, ParentQuery, Passage, QueryError, Removal, RemovedDocument,
    RestoreOutcome, ReviewEntry, ReviewQuery, SearchOrder, SearchQuery, Searched, Segment,
    Selection, TrashEntry, TrashQuery, TrashedContent, TrashedState, UnreadText, UrlList,
    VersionEntry,
};
pub use database::slow::{set_slow_limit, slow_limit};
pub use error::Error;
pub use harvests::history::{Counts, HistoryEntry, HistoryQuery, State, Warning};
pub use harvests::rules::{Rules, RulesKind};
pub use harvests::runs::{Finish, NewRun, Run};
pub use imports::{
    CaptureOutcome, CaptureRow, ContentRow, ExtractionClaim, FinishImport, GroupCommit,
    GroupOutcome, Import, ImportCounters, ImportEntry, ImportQuery, ImportState, ImportWarning,
    Lacking, NewImport, NewSource, ParentRow, Placement, RemovedImport, SourcePosition,
    Superfluous,
};
pub use people::accounts::Account;
pub use people::audit::{AuditEntry, AuditOrder, AuditQuery, AuditRow};
pub use people::roles::Role;
pub use people::saved::{Saved, SavedKind};
pub use people::tokens::Token;
pub use queue::beats::{Answer, Beat, Heard};
pub use queue::claims::{Claim, ClaimOptions, JobLease};
pub use queue::ends::{Cancelled, JobEnd, URGENT};
pub use queue::job::{Activity, Job, JobKind, JobProgress, JobState, NewJob};
pub use queue::jobs::JobQuery;
pub use queue::log::{LogLevel, LogLine};
pub use queue::outlook::Outlook;
pub use queue::schedule::{Schedule, ScheduleSettings, ScheduleState, Scheduled};
pub use queue::schedules::ScheduleQuery;
pub use queue::standing::{CommandAtWork, JobAtWork, QueueStanding};
pub use queue::workers::{Worker, WorkerReport};
pub use records::entry::{FormatCounts, Known, Order, RecordColumn, RecordEntry, RecordQuery};
pub use records::keeping::{
    IN_DATABASE, IN_PACKS, IN_STORE, MovedRecord, RecordContent, RecordStore, RecordWay,
};
pub use records::page::{Outcome, PageCommit, RecordRow, Validation};
pub use records::search::{IndexedRecord, Unindexed};
pub use repositories::entry::{Identity, Repository, RepositoryCounts};
pub use repositories::formats::MetadataFormat;
pub use repositories::health::{Health, HealthCounts};
pub use repositories::overview::{
    LastHarvest, RepositoryListQuery, RepositoryOverview, RepositorySort,
};
pub use repositories::recent::RecentHarvest;
pub use repositories::sets::Set;
pub use repositories::statistics::{Bucket, CollectionFigures, JobCounts, Totals};
pub use runs::gauges::Gauges;
pub use runs::{FailedRun, FailedRuns, RunOrder, RunQuery, RunRow, RunState};
pub use transfer::CopiedTable;
