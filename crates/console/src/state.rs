//! What all requests share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use catalog::{AuditEntry, Catalog};
use defence::harmful::replaced;
use defence::{Repeats, Throttle};
use jobs::{DocumentFiles, Holdings};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use utoipa::openapi::OpenApi;

use crate::api::{Described, operations_of};
use crate::config::ConsoleConfig;
use crate::cookies::Cookies;
use crate::friends::Friends;
use crate::host::Hosts;
use crate::outside::Outside;
use crate::password;
use crate::previews::Previews;
use crate::problem::Problem;
use crate::who::Who;

/// What all requests share; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ConsoleState(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    holdings: Arc<Holdings>,
    catalog: Catalog,
    config: ConsoleConfig,
    outside: Outside,
    previews: Previews,
    friends: Friends,
    hosts: Hosts,
    throttle: Throttle,
    /// What was refused lately, so that whoever repeats it cannot fill the audit trail.
    refusals: Mutex<Repeats>,
    /// A check of a password takes 19 MiB and a core for a while.
    password_checks: Arc<Semaphore>,
    /// A download takes a thread.
    downloads: Arc<Semaphore>,
    /// The collection as it was last opened.
    document_files: Mutex<Option<Arc<DocumentFiles>>>,
    /// A question to a repository takes a thread too, and what it answers may be long.
    questions: Arc<Semaphore>,
    /// The digest of what makes the first account.
    setup: Mutex<Option<String>>,
    openapi: serde_json::Value,
    operations: Vec<Described>,
}

impl ConsoleState {
    pub(crate) fn new(
        holdings: Arc<Holdings>,
        config: ConsoleConfig,
        outside: Outside,
        openapi: &OpenApi,
    ) -> anyhow::Result<Self> {
        Ok(Self(Arc::new(Inner {
            catalog: holdings.catalog().interactive(),
            holdings,
            hosts: Hosts::new(&config),
            config,
            outside,
            previews: Previews::default(),
            friends: Friends::default(),
            throttle: Throttle::default(),
            refusals: Mutex::default(),
            password_checks: Arc::new(Semaphore::new(PASSWORDS_AT_ONCE)),
            downloads: Arc::new(Semaphore::new(DOWNLOADS_AT_ONCE)),
            document_files: Mutex::new(None),
            questions: Arc::new(Semaphore::new(QUESTIONS_AT_ONCE)),
            setup: Mutex::new(None),
            openapi: serde_json::to_value(openapi)?,
            operations: operations_of(openapi),
        })))
    }

    /// Files and catalog, for code that blocks.
    pub(crate) fn holdings(&self) -> &Arc<Holdings> {
        &self.0.holdings
    }

    /// The catalog, to be awaited.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    pub(crate) fn config(&self) -> &ConsoleConfig {
        &self.0.config
    }

    /// How repositories are asked for people.
    pub(crate) fn outside(&self) -> &Outside {
        &self.0.outside
    }

    /// What repositories said that somebody may add.
    pub(crate) fn previews(&self) -> &Previews {
        &self.0.previews
    }

    /// Repositories that are known to others.
    pub(crate) fn friends(&self) -> &Friends {
        &self.0.friends
    }

    pub(crate) fn hosts(&self) -> &Hosts {
        &self.0.hosts
    }

    pub(crate) fn throttle(&self) -> &Throttle {
        &self.0.throttle
    }

    /// The description of the API.
    pub(crate) fn openapi(&self) -> &serde_json::Value {
        &self.0.openapi
    }

    /// The operations of the API.
    pub(crate) fn operations(&self) -> &[Described] {
        &self.0.operations
    }

    pub(crate) fn cookies(&self) -> Cookies {
        let https = self.0.config.is_https();
        Cookies { https }
    }

    /// The files of documents, to be read; this blocks.
    pub(crate) fn document_files(&self) -> anyhow::Result<Arc<DocumentFiles>> {
        let lock = || {
            let files = self.0.document_files.lock();
            files.unwrap_or_else(PoisonError::into_inner)
        };
        let before = lock().clone();
        let files = DocumentFiles::open(self.holdings(), before)?;
        *lock() = Some(Arc::clone(&files));
        Ok(files)
    }

    /// Writes down who changed what. Handlers call it once the change is made: `audit(&who, "schedule.pause",
    /// "schedule 7 (Every night)", None)`. A trail that cannot be written does not undo the change; the log has it then.
    pub(crate) async fn audit(
        &self,
        who: &Who,
        action: &str,
        subject: impl Into<String>,
        details: Option<String>,
    ) {
        self.audit_name(&who.account.name, action, subject, details)
            .await;
    }

    /// The same, for those who are not logged in yet.
    pub(crate) async fn audit_name(
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
        let AuditEntry {
            account, subject, ..
        } = &entry;
        tracing::info!(
            account,
            action,
            subject,
            "in the audit trail of the console"
        );
        if let Err(error) = self.catalog().audit(&entry).await {
            tracing::error!(account, action, subject, "not in the audit trail: {error}");
        }
    }

    /// Writes down what was refused, and to whom: an account, or [`NOBODY`]. What is refused again and again is written
    /// down the first time, the tenth, the hundredth and so on, with its number.
    pub(crate) async fn audit_refusal(
        &self,
        account: &str,
        action: &str,
        subject: &str,
        details: &str,
    ) {
        let key = format!("{account} {action} {subject} {details}");
        let count = {
            let refusals = self.0.refusals.lock();
            let mut refusals = refusals.unwrap_or_else(PoisonError::into_inner);
            refusals.count(&key, Instant::now())
        };
        let details = match count {
            None => return,
            Some(1) => replaced(details),
            Some(count) => format!("{} ({count} times by now)", replaced(details)),
        };
        let subject: String = replaced(subject).chars().take(LONGEST_SUBJECT).collect();
        self.audit_name(account, action, subject, Some(details))
            .await;
    }

    /// Does what blocks on a thread where that is fine.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Holdings) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let holdings = Arc::clone(self.holdings());
        Ok(tokio::task::spawn_blocking(move || work(&holdings)).await?)
    }

    /// The hash of a new password, which has been checked.
    pub(crate) async fn hash_password(&self, password: &str) -> Result<String, Problem> {
        let password = password.to_owned();
        let hash = self
            .with_password(move || password::hash(&password))
            .await?;
        Ok(hash?)
    }

    /// Whether a password fits a hash; as slow without one.
    pub(crate) async fn verify_password(
        &self,
        password: &str,
        hash: Option<String>,
    ) -> Result<bool, Problem> {
        let password = password.to_owned();
        self.with_password(move || password::verify(&password, hash.as_deref()))
            .await
    }

    /// The turn of somebody who downloads a file.
    pub(crate) async fn turn_to_download(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let busy = "too many files are downloaded at the moment; try again";
        turn(&self.0.downloads, busy).await
    }

    /// The turn of somebody who asks a repository.
    pub(crate) async fn turn_to_ask(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let busy = "too many repositories are asked at the moment; try again";
        turn(&self.0.questions, busy).await
    }

    /// Remembers what opens the first set-up.
    pub(crate) fn set_setup(&self, digest: Option<String>) {
        *self.0.setup.lock().unwrap_or_else(PoisonError::into_inner) = digest;
    }

    /// Whether this opens the first set-up.
    pub(crate) fn opens_setup(&self, digest: &str) -> bool {
        let setup = self.0.setup.lock().unwrap_or_else(PoisonError::into_inner);
        setup.as_deref() == Some(digest)
    }

    async fn with_password<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let busy = "too many people log in at the moment; try again";
        let turn = turn(&self.0.password_checks, busy).await?;
        let work = move || {
            // It is held for as long as the work takes, whether or not somebody still waits for it.
            let _turn = turn;
            work()
        };
        Ok(tokio::task::spawn_blocking(work).await?)
    }
}

/// Waits for one's turn, but not for long.
async fn turn(semaphore: &Arc<Semaphore>, busy: &str) -> Result<OwnedSemaphorePermit, Problem> {
    let permit = Arc::clone(semaphore).acquire_owned();
    if let Ok(Ok(permit)) = tokio::time::timeout(LONGEST_QUEUE, permit).await {
        return Ok(permit);
    }
    let mut problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", busy);
    problem.retry_after = Some(Duration::from_secs(5));
    Err(problem)
}

/// Stands for an account in the audit trail where nobody is logged in; no account can have this name.
pub(crate) const NOBODY: &str = "(nobody)";
const LONGEST_SUBJECT: usize = 200;
const PASSWORDS_AT_ONCE: usize = 2;
const DOWNLOADS_AT_ONCE: usize = 16;
const QUESTIONS_AT_ONCE: usize = 8;
const LONGEST_QUEUE: Duration = Duration::from_secs(5);
