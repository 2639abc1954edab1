//! A job at work: how it ends, and how a catalog that is away is waited for.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Claim, JobEnd, NewJob};
use flows::{Holdings, is_away, is_store_away, message};

use super::kinds::Job;
use super::log::Log;
use super::running::{Running, Why};
use super::{POLL, Shared, WorkerOptions};

/// A job that a worker of this process runs.
pub(super) struct Work<'a> {
    pub(super) shared: &'a Shared,
    pub(super) claim: &'a Claim,
    pub(super) running: &'a Arc<Running>,
    pub(super) log: Log<'a>,
}

impl Work<'_> {
    pub(super) fn holdings(&self) -> &Holdings {
        &self.shared.holdings
    }

    pub(super) fn options(&self) -> &WorkerOptions {
        &self.shared.options
    }

    /// Ends a job that no harvest or import has ended. One that was stopped ends as who stopped it wants it to.
    pub(super) fn end(&self, end: JobEnd, follow_ups: &[NewJob]) -> anyhow::Result<()> {
        let end = match (self.running.why(), end) {
            (_, JobEnd::Finished) => JobEnd::Finished,
            (Some(Why::Cancelled), _) => JobEnd::Cancelled,
            (Some(Why::GivenBack), _) => JobEnd::GivenBack,
            (_, end) => end,
        };
        // A job that was stopped has not ended by itself, so nothing follows.
        let follow_ups = match end {
            JobEnd::Finished | JobEnd::Failed { .. } => follow_ups,
            JobEnd::Cancelled | JobEnd::GivenBack | JobEnd::PutOff { .. } => &[],
        };
        let (catalog, lease) = (self.holdings().catalog(), self.claim.lease());
        // A disk that is full is waited for here, and not by resuming a harvest: no repository is asked meanwhile.
        let waits = |error: &anyhow::Error| is_away(error) || is(error, catalog::Error::is_full);
        // The outcome since the last heartbeat, which a short job never had.
        let (last, term) = ([self.running.beat()], self.options().lease);
        let ended = self.insist_while(waits, || {
            self.holdings().wait(async {
                catalog.beat(&last, term).await?;
                catalog.end_job(&lease, &end, follow_ups).await
            })?;
            Ok(())
        });
        match ended {
            // It was written down, but the answer was lost.
            Err(error) if is_lost(&error) && self.is_over() => {}
            Err(error) => return Err(with_cause(error, &end)),
            Ok(()) => {}
        }
        self.log.ended(&end);
        Ok(())
    }

    /// The end of a job whose harvest or import has ended, and the reason that the history keeps if it was stopped.
    pub(super) fn verdict(
        &self,
        job: &dyn Job,
        is_done: bool,
        error: Option<&anyhow::Error>,
        cancelled: &str,
    ) -> (JobEnd, Option<String>) {
        match (self.running.why().filter(|_| !is_done), error) {
            (Some(Why::Cancelled), _) => (JobEnd::Cancelled, Some(cancelled.to_owned())),
            (Some(Why::GivenBack | Why::Fenced), _) => {
                (JobEnd::GivenBack, Some(STOPPED.to_owned()))
            }
            (None, Some(error)) => (job.decide(self, error), None),
            (None, None) => (JobEnd::Finished, None),
        }
    }

    /// The end of a job that may be tried again.
    pub(super) fn failed(&self, error: &anyhow::Error) -> JobEnd {
        // A store that is away is no fault of the job: it waits, and the attempt does not count.
        if is_store_away(error) {
            metrics::counter!("garner_store_errors_total").increment(1);
            return JobEnd::PutOff {
                wait: STORE_AWAY,
                reason: message(error),
            };
        }
        JobEnd::Failed {
            reason: message(error),
            retry_in: self.options().backoff.after(&self.claim.job, error),
        }
    }

    /// Whether the job is over by what this worker did, although the answer of the catalog was lost.
    pub(super) fn is_over(&self) -> bool {
        let job = self.holdings().catalog().job(self.claim.job.id);
        let job = self.holdings().wait(job);
        let worker = &self.claim.job.worker;
        job.is_ok_and(|job| job.is_some_and(|job| job.state.is_over() && job.worker == *worker))
    }

    /// Does something that the catalog is needed for, again as long as it is away.
    pub(super) fn insist<T>(&self, ask: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<T> {
        self.insist_while(is_away, ask)
    }

    fn insist_while<T>(
        &self,
        waits: impl Fn(&anyhow::Error) -> bool,
        mut ask: impl FnMut() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut told = false;
        let mut left = GIVING_UP;
        loop {
            let error = match ask() {
                Err(error) if waits(&error) => error,
                result => return result,
            };
            if !told {
                told = true;
                tracing::warn!(job.id = self.running.id(), "waiting: {}", message(&error));
            }
            // A worker that has to stop does not wait for long. The next worker then finds the job.
            if self.shared.is_stopping() || self.running.why() == Some(Why::Fenced) {
                left = left.checked_sub(POLL).ok_or(error)?;
            }
            std::thread::sleep(POLL);
        }
    }
}

/// An end that cannot be written down must not hide why the job came to it.
fn with_cause(error: anyhow::Error, end: &JobEnd) -> anyhow::Error {
    match end {
        JobEnd::Failed { reason, .. } => error.context(format!("the job failed: {reason}")),
        _ => error,
    }
}

/// The end of a job that no other attempt can help.
pub(super) fn finally(error: &anyhow::Error) -> JobEnd {
    JobEnd::Failed {
        reason: message(error),
        retry_in: None,
    }
}

/// Whether an error of the catalog is like this.
pub(super) fn is(error: &anyhow::Error, kind: impl Fn(&catalog::Error) -> bool) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| cause.downcast_ref::<catalog::Error>().is_some_and(&kind))
}

/// Whether the job is another's now.
pub(super) fn is_lost(error: &anyhow::Error) -> bool {
    use catalog::Error::{ImportLost, JobLost, LeaseLost};
    is(error, |error| {
        matches!(error, ImportLost { .. } | JobLost { .. } | LeaseLost { .. })
    })
}

/// How long a job waits for a store that is away.
const STORE_AWAY: Duration = Duration::from_secs(60);
/// So long a catalog that is away is waited for, once the workers are to stop.
const GIVING_UP: Duration = Duration::from_secs(3);
const STOPPED: &str = "its worker was told to stop; it resumes there";
