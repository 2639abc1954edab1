//! State that all requests share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use catalog::Catalog;
use defence::harmful::replaced;
use defence::{Repeats, Throttle};
use flows::Holdings;
use operations::{Code, Context, Refusal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::ConsoleConfig;
use crate::cookies::Cookies;
use crate::host::Hosts;
use crate::outside::Outside;
use crate::problem::Problem;
use crate::repositories::friends::Friends;
use crate::repositories::previews::Previews;

/// State that all requests share; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ConsoleState(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    context: Context,
    config: ConsoleConfig,
    outside: Outside,
    previews: Previews,
    friends: Friends,
    hosts: Hosts,
    throttle: Throttle,
    /// Recent refusals, so that repeating one cannot fill the audit trail.
    refusals: Mutex<Repeats>,
    /// A download takes a thread.
    downloads: Arc<Semaphore>,
    /// A question to a repository takes a thread too, and what it answers may be long.
    questions: Arc<Semaphore>,
    /// The digest of what makes the first account.
    setup: Mutex<Option<String>>,
}

impl ConsoleState {
    pub(crate) fn new(holdings: Arc<Holdings>, config: ConsoleConfig, outside: Outside) -> Self {
        Self(Arc::new(Inner {
            context: Context::interactive(holdings).configured(config.operations.clone()),
            hosts: Hosts::new(&config),
            config,
            outside,
            previews: Previews::default(),
            friends: Friends::default(),
            throttle: Throttle::default(),
            refusals: Mutex::default(),
            downloads: Arc::new(Semaphore::new(DOWNLOADS_AT_ONCE)),
            questions: Arc::new(Semaphore::new(QUESTIONS_AT_ONCE)),
            setup: Mutex::new(None),
        }))
    }

    /// Files and catalog, for code that blocks.
    pub(crate) fn holdings(&self) -> &Arc<Holdings> {
        self.0.context.holdings()
    }

    /// The catalog, to be awaited.
    pub(crate) fn catalog(&self) -> &Catalog {
        self.0.context.catalog()
    }

    /// The context of operations.
    pub(crate) fn context(&self) -> &Context {
        &self.0.context
    }

    pub(crate) fn config(&self) -> &ConsoleConfig {
        &self.0.config
    }

    /// How repositories are asked for people.
    pub(crate) fn outside(&self) -> &Outside {
        &self.0.outside
    }

    /// Answers of repositories that may be added.
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

    pub(crate) fn cookies(&self) -> Cookies {
        let https = self.0.config.is_https();
        Cookies { https }
    }

    /// Writes down what concerns somebody who is not logged in, under the name `account`.
    pub(crate) async fn audit_name(
        &self,
        account: &str,
        action: &str,
        subject: impl Into<String>,
        details: Option<String>,
    ) {
        let trail = self.context();
        trail.audit_name(account, action, subject, details).await;
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

    /// The turn of somebody who downloads a file.
    pub(crate) async fn turn_to_download(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let busy = "too many files are downloaded at the moment; try again";
        turn(&self.0.downloads, busy).await
    }

    /// The turn of somebody who asks a repository.
    pub(crate) async fn turn_to_ask(&self) -> Result<OwnedSemaphorePermit, Refusal> {
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
}

/// Waits for one's turn, but not for long.
async fn turn(semaphore: &Arc<Semaphore>, busy: &str) -> Result<OwnedSemaphorePermit, Refusal> {
    let permit = Arc::clone(semaphore).acquire_owned();
    match tokio::time::timeout(LONGEST_QUEUE, permit).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(Refusal::new(Code::Overloaded, busy)),
    }
}

/// Stands for an account in the audit trail where nobody is logged in; no account can have this name.
pub(crate) const NOBODY: &str = "(nobody)";
const LONGEST_SUBJECT: usize = 200;
const DOWNLOADS_AT_ONCE: usize = 16;
const QUESTIONS_AT_ONCE: usize = 8;
const LONGEST_QUEUE: Duration = Duration::from_secs(5);
