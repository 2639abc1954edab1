//! The overview: what needs attention, what runs, what comes up, and how much there is.

mod disk;

use catalog::{JobKind, JobQuery, JobState};
use serde::Serialize;
use utoipa::ToSchema;

pub use self::disk::Disk;
use crate::jobs::{Job, explained};
use crate::runs::{FailuresByCause, open_failures};
use crate::statistics::{self, Statistics};
use crate::{Context, Refusal, Time};

/// Everything that somebody who looks after garner sees first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Overview {
    /// When it was made.
    pub at: Time,
    /// The version of garner.
    pub version: String,
    /// Trouble that needs attention.
    pub attention: Attention,
    /// Jobs that run: the first of them, the latest first.
    pub active: Vec<Job>,
    /// Jobs that are not due yet: the next of them.
    pub upcoming: Vec<Job>,
    /// The queue.
    pub queue: QueueFigures,
    /// Repositories, records, harvests and jobs.
    pub statistics: Statistics,
    /// The document collection.
    pub collection: CollectionFigures,
    /// Sites that this process exposes.
    pub sites: Vec<ExposedSite>,
    /// Processes with workers.
    pub workers: Vec<WorkerFigures>,
    /// The disk of the data directory.
    pub disk: Option<Disk>,
}

/// Trouble that needs attention.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Attention {
    /// The failures of the last seven days, by their causes, without those that somebody has acknowledged.
    pub failures: FailuresByCause,
    /// How many causes of failures somebody has acknowledged.
    pub acknowledged: u64,
    /// Jobs that run and make no progress.
    pub stuck: Vec<Job>,
    /// How many jobs wait although they have been due for a minute or more.
    pub overdue: u64,
    /// When the first of them was due.
    pub overdue_since: Option<Time>,
    /// The first of them.
    pub first_overdue: Vec<Job>,
    /// Records that cannot be found by their words, because their files could not be read.
    pub unread_records: u64,
    /// Whether the disk of the data directory is nearly full.
    pub disk_is_low: bool,
}

/// How much there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct QueueFigures {
    /// Jobs that wait, due or not.
    pub queued: u64,
    /// Jobs that run.
    pub running: u64,
    /// Jobs that run and keep a worker busy: all but quiet times.
    pub busy: u64,
    /// Seconds for which the first job that is due has waited; 0 if none is.
    pub age_seconds: i64,
}

/// How much the document collection has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct CollectionFigures {
    /// Documents.
    pub documents: u64,
    /// Whether the number of documents is exact; it is estimated for large collections.
    pub is_exact: bool,
    /// Documents whose decision is `unsure`, counted up to 1000.
    pub unsure: u64,
    /// Imports in the history.
    pub imports: u64,
}

/// A site that this process exposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ExposedSite {
    /// Its directory.
    pub root: String,
    /// The address at which it is served.
    pub listen: String,
}

/// A process with workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WorkerFigures {
    /// Its name.
    pub name: String,
    /// How many jobs it runs at once.
    pub threads: u64,
    /// When it started.
    pub started: Time,
}

/// Makes the overview.
pub async fn show(context: &Context) -> Result<Overview, Refusal> {
    let catalog = context.catalog();
    let now = catalog.now().await?;
    let query = JobQuery {
        states: vec![JobState::Running],
        limit: MAX_RUNNING,
        ..JobQuery::default()
    };
    let running = explained(context, catalog.jobs(&query).await?).await?;
    let is_stuck = |job: &&Job| job.why.as_ref().is_some_and(|why| why.is_trouble);
    let stuck: Vec<_> = running.iter().filter(is_stuck).cloned().collect();
    let active: Vec<_> = running.into_iter().take(SHOWN_JOBS).collect();
    let outlook = catalog.queue_outlook(PATIENCE, SHOWN_JOBS as u64).await?;
    let (failures, acknowledged) = open_failures(context, DAYS).await?;
    let standing = catalog.queue_standing().await?;
    let is_work = |job: &&catalog::JobAtWork| job.kind != JobKind::Quiet;
    let busy = standing.running.iter().filter(is_work).count() as u64;
    let statistics = statistics::totals(context).await?;
    let figures = catalog.collection_figures().await?;
    let workers = catalog.workers().await?;
    let disk = context
        .blocking(|holdings| Ok(Disk::of(holdings.directory())))
        .await?;
    Ok(Overview {
        at: Time(now),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        attention: Attention {
            failures,
            acknowledged,
            stuck,
            overdue: outlook.overdue,
            overdue_since: outlook.overdue_since.map(Time),
            first_overdue: explained(context, outlook.first_overdue).await?,
            unread_records: statistics.unread,
            disk_is_low: disk.is_some_and(|disk| disk.is_low()),
        },
        active,
        upcoming: explained(context, outlook.upcoming).await?,
        queue: QueueFigures {
            queued: statistics.jobs.scheduled,
            running: statistics.jobs.running,
            busy,
            age_seconds: outlook.due_since.map_or(0, |since| (now - since).max(0)),
        },
        statistics,
        collection: CollectionFigures {
            documents: figures.documents,
            is_exact: figures.is_exact,
            unsure: figures.unsure,
            imports: figures.imports,
        },
        sites: context.settings().sites.clone(),
        workers: workers
            .into_iter()
            .map(|worker| WorkerFigures {
                name: worker.name,
                threads: worker.threads,
                started: Time(worker.started),
            })
            .collect(),
        disk,
    })
}

impl Attention {
    /// Whether nothing needs attention.
    pub fn is_empty(&self) -> bool {
        self.failures.groups.is_empty()
            && self.stuck.is_empty()
            && self.overdue == 0
            && self.unread_records == 0
            && !self.disk_is_low
    }
}

/// Failures of as many last days need attention.
const DAYS: u32 = 7;
/// How many jobs that run are looked at.
const MAX_RUNNING: u64 = 200;
const SHOWN_JOBS: usize = 5;
/// How long a job that is due may wait before it is worth a word, in seconds.
const PATIENCE: i64 = 60;
