//! Whether a job that failed is tried again, and when.

use std::time::Duration;

use catalog::Job;
use flows::{Failure, is_failure};
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
    if is_failure(error, Failure::NOT_AN_ARCHIVE) {
        return true;
    }
    let mut causes = error.chain();
    causes.any(|cause| {
        let error = cause.downcast_ref::<harvester::Error>();
        error.is_some_and(|error| match error.kind() {
            ErrorKind::Usage(_) => true,
            ErrorKind::RepositoryIncompatible(lack) => !matches!(
                lack,
                // The web server may answer differently in an hour.
                Incompatibility::HttpStatus(_) | Incompatibility::Refused(_)
            ),
            _ => false,
        })
    })
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use catalog::{JobKind, JobProgress, JobState};
    use harvester::{Error, Misbehaviour};

    use super::*;

    fn job(attempt: i64) -> Job {
        Job {
            id: 1,
            kind: JobKind::Harvest,
            repository: Some(1),
            base_url: None,
            repository_name: None,
            schedule: None,
            metadata_prefix: "oai_dc".to_owned(),
            set: None,
            parameters: "{}".to_owned(),
            state: JobState::Running,
            priority: 0,
            run_at: 0,
            attempt,
            max_attempts: 5,
            exclusive: None,
            host: None,
            needs: Vec::new(),
            put_off: None,
            worker: None,
            cancel_requested: false,
            progress: JobProgress::default(),
            error: None,
            created: 0,
            created_by: None,
            started: None,
            finished: None,
            harvest: None,
            import: None,
        }
    }

    #[test]
    fn waits_double_up_to_a_limit_and_end_with_the_last_attempt() {
        let backoff = Backoff {
            first: Duration::from_secs(10),
            longest: Duration::from_secs(35),
        };
        let waits = [1, 2, 3, 4, 5].map(|attempt| {
            let wait = backoff.after(&job(attempt), &anyhow!("it rains"));
            wait.map(|wait| wait.as_secs())
        });
        assert_eq!(waits, [Some(10), Some(20), Some(35), Some(35), None]);
        let longest = Backoff::default().after(
            &Job {
                attempt: 90,
                max_attempts: 100,
                ..job(1)
            },
            &anyhow!("it rains"),
        );
        assert_eq!(longest, Some(Backoff::default().longest));
    }

    #[test]
    fn what_the_repository_lacks_is_not_asked_for_again() {
        let after = |error: Error| {
            let error = anyhow::Error::from(error).context("a page");
            Backoff::default().after(&job(1), &error).is_some()
        };
        assert!(!after(Incompatibility::NoSets.into()));
        assert!(!after(Error::new(ErrorKind::Usage("no URL".to_owned()))));
        assert!(after(Incompatibility::HttpStatus(404).into()));
        assert!(after(Misbehaviour::EmptyPages(9).into()));
        assert!(after(Error::new(ErrorKind::Transport("away".to_owned()))));
    }

    #[test]
    fn a_path_without_an_archive_is_not_imported_again() {
        let error = Failure::new(Failure::NOT_AN_ARCHIVE, "there are no archives in `a`");
        let error = anyhow::Error::from(error).context("the import failed");
        assert_eq!(Backoff::default().after(&job(1), &error), None);
    }
}
