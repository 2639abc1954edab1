//! How jobs end, and how a catalog that is away is waited for.

use std::time::Duration;

use catalog::{Claim, Counts, JobEnd, JobKind, NewJob, State};

use super::log::Log;
use super::running::{Running, Why};
use super::{POLL, Shared};
use crate::failure::is_store_away;
use crate::harvest::{Ended, is_away};
use crate::message;

impl Shared {
    /// Ends a job that no harvest has ended. If it was stopped, it ends as who stopped it wants it to.
    pub(super) fn end_job(
        &self,
        claim: &Claim,
        running: &Running,
        log: &Log,
        end: JobEnd,
        follow_ups: &[NewJob],
    ) -> anyhow::Result<()> {
        let end = match (running.why(), end) {
            (_, JobEnd::Finished) => JobEnd::Finished,
            (Some(Why::Cancelled), _) => JobEnd::Cancelled,
            (Some(Why::GivenBack), _) => JobEnd::GivenBack,
            (_, end) => end,
        };
        // What was stopped has not ended by itself, so nothing follows.
        let follow_ups = match end {
            JobEnd::Finished | JobEnd::Failed { .. } => follow_ups,
            JobEnd::Cancelled | JobEnd::GivenBack | JobEnd::PutOff { .. } => &[],
        };
        let (catalog, lease) = (self.holdings.catalog(), claim.lease());
        // A disk that is full is waited for here, and not by going on with a harvest: no repository is asked meanwhile.
        let waits = |error: &anyhow::Error| is_away(error) || is(error, catalog::Error::is_full);
        let ended = self.insist_while(waits, running, || {
            self.holdings
                .wait(catalog.end_job(&lease, &end, follow_ups))?;
            Ok(())
        });
        match ended {
            // It was written down, but the answer was lost.
            Err(error) if is_lost(&error) && self.is_over(claim) => {}
            Err(error) => return Err(with_cause(error, &end)),
            Ok(()) => {}
        }
        log.ended(&end);
        Ok(())
    }

    /// Ends a harvest that failed without an entry in the history, or beside it. Hooks hear of it if it is not tried
    /// again.
    pub(super) fn give_up(
        &self,
        claim: &Claim,
        running: &Running,
        log: &Log,
        end: JobEnd,
    ) -> anyhow::Result<()> {
        let hooks = match &end {
            JobEnd::Failed {
                reason,
                retry_in: None,
            } if claim.job.kind == JobKind::Harvest => self.hook_jobs(
                claim,
                &Ended {
                    harvest: claim.job.harvest,
                    state: State::Failed,
                    reason: Some(reason),
                    error: None,
                    counts: Counts::default(),
                },
            ),
            _ => Vec::new(),
        };
        self.end_job(claim, running, log, end, &hooks)
    }

    /// The end of a job that may be tried again.
    pub(super) fn failed(&self, claim: &Claim, error: &anyhow::Error) -> JobEnd {
        // That the place of the documents is away is no fault of the job: it waits, and the attempt does not count.
        if is_store_away(error) {
            tracing::warn!(job.id = claim.job.id, "waiting: {}", message(error));
            return JobEnd::PutOff { wait: STORE_AWAY };
        }
        JobEnd::Failed {
            reason: message(error),
            retry_in: self.options.backoff.after(&claim.job, error),
        }
    }

    /// Does something that the catalog is needed for, again as long as it is away.
    pub(super) fn insist<T>(
        &self,
        running: &Running,
        ask: impl FnMut() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        self.insist_while(is_away, running, ask)
    }

    fn insist_while<T>(
        &self,
        waits: impl Fn(&anyhow::Error) -> bool,
        running: &Running,
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
                tracing::warn!(job.id = running.id(), "waiting: {}", message(&error));
            }
            // Who is to stop does not wait for long. The job is then found by the next who looks for work.
            if self.is_stopping() || running.why() == Some(Why::Fenced) {
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
