//! Whether a job that failed is tried again, and when.

use std::time::Duration;

use catalog::Job;
use harvester::{ErrorKind, Incompatibility};

/// How long a job waits before it is tried again: twice as long each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Before the second attempt.
    pub first: Duration,
    /// Before any attempt.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(60),
            longest: Duration::from_secs(3600),
        }
    }
}

impl Backoff {
    /// The wait after an attempt that failed with this error; `None` if it was the last one, or if no other can help.
    pub(super) fn after(self, job: &Job, error: &anyhow::Error) -> Option<Duration> {
        if job.attempt >= job.max_attempts || is_final(error) {
            return None;
        }
        let doublings = u32::try_from(job.attempt - 1).unwrap_or_default().min(20);
        Some(self.first.saturating_mul(1 << doublings).min(self.longest))
    }
}

/// Whether the next move is ours: another attempt would fail in the same way.
fn is_final(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| {
        let error = cause.downcast_ref::<harvester::Error>();
        error.is_some_and(|error| match error.kind() {
            ErrorKind::Usage(_) => true,
            ErrorKind::RepositoryIncompatible(lack) => !matches!(
                lack,
                // What the web server says may be different in an hour.
                Incompatibility::HttpStatus(_) | Incompatibility::Refused(_)
            ),
            _ => false,
        })
    })
}
