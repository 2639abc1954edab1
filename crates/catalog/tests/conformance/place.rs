//! A fresh place for a catalog on either database, and rows with good defaults.

use std::future::Future;
use std::time::Duration;

use catalog::{
    Catalog, Claim, ClaimOptions, Identity, JobKind, NewRun, PageCommit, RecordRow, Run, Validation,
};
use tempfile::TempDir;
use test_support::Postgres;

pub(crate) struct Place {
    pub(crate) location: String,
    _directory: Option<TempDir>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let location = directory.path().join("catalog.sqlite");
        Self {
            location: location.to_str().unwrap().to_owned(),
            _directory: Some(directory),
        }
    }

    pub(crate) fn postgres() -> Self {
        Self {
            location: Postgres::shared().database(),
            _directory: None,
        }
    }

    pub(crate) async fn open(&self) -> Catalog {
        Catalog::open(&self.location).await.unwrap()
    }

    /// A catalog with one repository.
    pub(crate) async fn with_repository(&self) -> (Catalog, i64) {
        let catalog = self.open().await;
        let repository = add(&catalog, "http://a.example/oai").await;
        (catalog, repository)
    }

    /// A catalog with one repository and a run that has just begun.
    pub(crate) async fn with_run(&self) -> (Catalog, Run) {
        let (catalog, repository) = self.with_repository().await;
        let run = catalog
            .begin(&NewRun::new(repository, "oai_dc"))
            .await
            .unwrap();
        (catalog, run)
    }

    /// Runs SQL behind the catalog's back.
    pub(crate) fn sql(&self, sql: &str) {
        if self.is_sqlite() {
            let database = rusqlite::Connection::open(&self.location).unwrap();
            database.execute_batch(sql).unwrap();
        } else {
            Postgres::shared().run(&self.location, sql);
        }
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self._directory.is_some()
    }
}

pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

pub(crate) async fn add(catalog: &Catalog, base_url: &str) -> i64 {
    let identity = Identity::default();
    let repository = catalog
        .add_repository(base_url, "a.example", &identity)
        .await;
    repository.unwrap().id
}

/// A record with a datestamp and a content of its own.
pub(crate) fn row(identifier: &str) -> RecordRow {
    RecordRow {
        identifier: identifier.to_owned(),
        datestamp: Some(1_000),
        deleted: false,
        file: Some(format!("a/{}.xml", identifier.len())),
        sha256: Some("ab".repeat(32)),
        set_specs: Vec::new(),
        harvested: 2_000,
        validation: Validation::Ok,
    }
}

pub(crate) fn in_sets(identifier: &str, sets: &[&str]) -> RecordRow {
    RecordRow {
        set_specs: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..row(identifier)
    }
}

pub(crate) fn tombstone(identifier: &str, datestamp: i64) -> RecordRow {
    RecordRow {
        datestamp: Some(datestamp),
        deleted: true,
        file: None,
        sha256: None,
        ..row(identifier)
    }
}

pub(crate) fn page(rows: &[RecordRow]) -> PageCommit<'_> {
    PageCommit {
        rows,
        resume_state: Some("next"),
        ..PageCommit::default()
    }
}

/// A worker that harvests.
pub(crate) fn options() -> ClaimOptions<'static> {
    ClaimOptions {
        lease: Duration::from_secs(60),
        kinds: &[JobKind::Harvest],
        tags: &[],
        worker: "tester",
    }
}

pub(crate) async fn claimed(catalog: &Catalog) -> Option<Claim> {
    claimed_with(catalog, options()).await
}

pub(crate) async fn claimed_with(catalog: &Catalog, options: ClaimOptions<'_>) -> Option<Claim> {
    catalog.claim(&options).await.unwrap()
}
