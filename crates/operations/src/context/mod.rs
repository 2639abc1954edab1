//! The context that operations work in.

pub(super) mod actor;
pub(super) mod settings;
pub(super) mod turn;

use std::sync::{Arc, Mutex, PoisonError};

use catalog::{AuditEntry, Catalog};
use flows::{DocumentFiles, Holdings};

use crate::upkeep::system::KeptFindings;
use crate::{Actor, Settings};

/// The data directory and the catalog that an operation works on; cheap to clone.
#[derive(Debug, Clone)]
pub struct Context {
    holdings: Arc<Holdings>,
    catalog: Catalog,
    settings: Arc<Settings>,
    /// The collection as it was last opened: one in a store has connections of its own.
    document_files: Arc<Mutex<Option<Arc<DocumentFiles>>>>,
    /// The findings of the last look at the installation.
    findings: KeptFindings,
}

impl Context {
    /// For a command: lists take as long as they take.
    pub fn new(holdings: Arc<Holdings>) -> Self {
        let catalog = holdings.catalog().clone();
        Self::with(holdings, catalog)
    }

    /// For the console: lists have a time limit and connections of their own, so that one list cannot stop the rest.
    pub fn interactive(holdings: Arc<Holdings>) -> Self {
        let catalog = holdings.catalog().interactive();
        Self::with(holdings, catalog)
    }

    fn with(holdings: Arc<Holdings>, catalog: Catalog) -> Self {
        Self {
            holdings,
            catalog,
            settings: Arc::default(),
            document_files: Arc::default(),
            findings: KeptFindings::default(),
        }
    }

    /// The same with settings of the configuration file.
    pub fn configured(self, settings: Settings) -> Self {
        Self {
            settings: Arc::new(settings),
            ..self
        }
    }

    /// The settings of the configuration file that operations go by.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Files and catalog, for code that blocks.
    pub fn holdings(&self) -> &Arc<Holdings> {
        &self.holdings
    }

    /// The catalog, to be awaited.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The findings about the installation that this process keeps.
    pub(crate) fn kept_findings(&self) -> &KeptFindings {
        &self.findings
    }

    /// Waits for an operation, for a command.
    pub fn wait<F: Future>(&self, operation: F) -> F::Output {
        self.holdings.wait(operation)
    }

    /// The files of documents; this blocks.
    pub(crate) fn document_files(&self) -> anyhow::Result<Arc<DocumentFiles>> {
        let lock = || {
            let files = self.document_files.lock();
            files.unwrap_or_else(PoisonError::into_inner)
        };
        let before = lock().clone();
        let files = DocumentFiles::open(&self.holdings, before)?;
        *lock() = Some(Arc::clone(&files));
        Ok(files)
    }

    /// Runs `work`, which blocks, on a thread of its own.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Holdings) -> anyhow::Result<T> + Send + 'static,
    ) -> Result<T, crate::Refusal> {
        let holdings = Arc::clone(&self.holdings);
        let done = tokio::task::spawn_blocking(move || work(&holdings)).await;
        Ok(done.map_err(anyhow::Error::from)??)
    }

    /// Writes a change down: `audit(&actor, "schedule.pause", "schedule 7 (Every night)", None)`. An operation calls it
    /// once the change is made. A trail that cannot be written does not undo the change; the log has it then.
    pub async fn audit(
        &self,
        actor: &Actor,
        action: &str,
        subject: impl Into<String>,
        details: Option<String>,
    ) {
        self.audit_name(&actor.name, action, subject, details).await;
    }

    /// Writes down what concerns somebody who is not logged in, under the name `account`.
    pub async fn audit_name(
        &self,
        account: &str,
        action: &str,
        subject: impl Into<String>,
        details: Option<String>,
    ) {
        let entry = AuditEntry {
            account: account.to_owned(),
            action: action.to_owned(),
            subject: subject.into(),
            details,
        };
        let (account, subject) = (&entry.account, &entry.subject);
        tracing::info!(account, action, subject, "in the audit trail");
        if let Err(error) = self.catalog.audit(&entry).await {
            tracing::error!(account, action, subject, "not in the audit trail: {error}");
        }
    }
}
