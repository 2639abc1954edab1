//! Facts that are cheap to tell: they are as they are now.

use catalog::{Catalog, JobKind};
use flows::{Holdings, PlaceDisk};
use serde::Serialize;
use utoipa::ToSchema;

use super::Program;
use crate::{Context, Refusal, Time};

/// The database of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CatalogFacts {
    /// Its place, without a password.
    pub location: String,
    /// The database and its version.
    #[schema(example = "PostgreSQL 17.2")]
    pub database: String,
    /// The version of its tables.
    pub schema: i64,
}

/// The places of what is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StoreFacts {
    /// The data directory.
    pub data: String,
    /// How records are kept: `files`, `packs` or `catalog`.
    #[schema(example = "files")]
    pub record_way: String,
    /// The store of records; none if they lie in the data directory.
    pub record_store: Option<String>,
    /// The directory or the store of documents; none before the first import.
    pub documents: Option<String>,
}

/// A disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DiskFacts {
    /// Its content: `data directory`, `catalog` or `documents`.
    #[schema(example = "data directory")]
    pub name: String,
    /// Its path.
    pub path: String,
    /// Bytes that are free for garner.
    pub free: u64,
    /// Bytes in all.
    pub size: u64,
}

/// A process with workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WorkerFacts {
    /// Its name: that of the workers, and the process.
    pub name: String,
    /// The machine.
    pub machine: String,
    /// The version of its program, unless it is older than 0.3.
    pub version: Option<String>,
    /// The kinds of jobs that it runs.
    #[schema(value_type = Vec<String>)]
    pub kinds: Vec<JobKind>,
    /// Its tags: it takes jobs that need some of these, or none.
    pub tags: Vec<String>,
    /// How many jobs it runs at once.
    pub threads: u64,
    /// The numbers of the jobs that it runs now.
    pub jobs: Vec<i64>,
    /// When it started.
    pub started: Time,
    /// When it was last heard of.
    pub seen: Time,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) catalog: Option<CatalogFacts>,
    pub(super) store: Option<StoreFacts>,
    pub(super) disks: Vec<DiskFacts>,
    pub(super) workers: Vec<WorkerFacts>,
}

impl Facts {
    pub(super) async fn gather(context: &Context) -> Result<Self, Refusal> {
        let catalog = context.catalog();
        let records = catalog.default_record_store().await?;
        let documents = catalog.collection_place().await?;
        let workers = catalog.workers().await?.into_iter().map(WorkerFacts::from);
        let here = |holdings: &Holdings| {
            let directory = flows::documents_directory(holdings)?;
            Ok((flows::disks(holdings), directory.display().to_string()))
        };
        let (disks, directory) = context.blocking(here).await?;
        let data = context.holdings().directory();
        let facts = CatalogFacts {
            location: catalog.location().to_owned(),
            database: catalog.database_version().await?,
            schema: Catalog::schema_version(),
        };
        let store = StoreFacts {
            data: data.display().to_string(),
            record_way: records.way.name().to_owned(),
            record_store: Some(records.store).filter(|store| !store.is_empty()),
            // An empty text stands for the directory among the data.
            documents: documents.map(|place| match place.is_empty() {
                true => directory,
                false => place,
            }),
        };
        Ok(Self {
            workers: workers.collect(),
            catalog: Some(facts),
            store: Some(store),
            disks: disks.into_iter().map(DiskFacts::from).collect(),
        })
    }
}

impl From<catalog::Worker> for WorkerFacts {
    fn from(worker: catalog::Worker) -> Self {
        Self {
            name: worker.name,
            machine: worker.machine,
            version: worker.version,
            kinds: worker.kinds,
            tags: worker.tags,
            threads: worker.threads,
            jobs: worker.jobs,
            started: Time(worker.started),
            seen: Time(worker.seen),
        }
    }
}

impl From<PlaceDisk> for DiskFacts {
    fn from(disk: PlaceDisk) -> Self {
        Self {
            name: disk.name.to_owned(),
            path: disk.path.display().to_string(),
            free: disk.free,
            size: disk.size,
        }
    }
}

impl From<flows::Program> for Program {
    fn from(program: flows::Program) -> Self {
        Self {
            name: program.name.to_owned(),
            path: program.path.map(|path| path.display().to_string()),
            version: program.version,
            package: program.package.to_owned(),
            without: program.without.to_owned(),
        }
    }
}
