//! Jobs for tests: they wait, run, and are over.

use std::time::Duration;

use catalog::{
    Beat, Claim, ClaimOptions, Job, JobEnd, JobKind, JobProgress, LogLevel, NewJob, Repository,
};

use crate::browser::TestConsole;

const LEASE: Duration = Duration::from_secs(60);

impl TestConsole {
    /// A repository that is called so.
    pub(crate) fn repository_called(&self, name: &str) -> Repository {
        let place = name.to_lowercase().replace(' ', "-");
        self.repository(&format!("http://{place}.example/oai"), name)
    }

    /// A harvest that waits.
    pub(crate) fn waiting(&self, repository: &Repository) -> Job {
        let new = NewJob::harvest(repository.id, "oai_dc");
        self.holdings
            .wait(self.holdings.catalog().add_job(&new))
            .unwrap()
    }

    /// The next job that waits, as a worker has it.
    pub(crate) fn claimed(&self) -> Claim {
        let options = ClaimOptions {
            lease: LEASE,
            kinds: &[JobKind::Harvest],
            tags: &[],
            worker: "test",
        };
        let claimed = self.holdings.wait(self.holdings.catalog().claim(&options));
        claimed.unwrap().unwrap()
    }

    /// A harvest that runs.
    pub(crate) fn running(&self, repository: &Repository) -> Claim {
        self.waiting(repository);
        self.claimed()
    }

    pub(crate) fn beat(&self, claim: &Claim, done: u64, total: u64) {
        let beat = Beat {
            lease: claim.lease(),
            progress: JobProgress {
                done,
                total: Some(total),
                note: Some("12 new, 3 updated".to_owned()),
                activity: None,
            },
        };
        let catalog = self.holdings.catalog();
        self.holdings.wait(catalog.beat(&[beat], LEASE)).unwrap();
    }

    pub(crate) fn log(&self, job: i64, level: LogLevel, message: &str) {
        let catalog = self.holdings.catalog();
        self.holdings
            .wait(catalog.log_job(job, level, message))
            .unwrap();
    }

    pub(crate) fn end(&self, claim: &Claim, end: &JobEnd) {
        let catalog = self.holdings.catalog();
        self.holdings
            .wait(catalog.end_job(&claim.lease(), end, &[]))
            .unwrap();
    }

    /// A harvest that failed.
    pub(crate) fn failed(&self, repository: &Repository, reason: &str) -> Job {
        let claim = self.running(repository);
        let end = JobEnd::Failed {
            reason: reason.to_owned(),
            retry_in: None,
        };
        self.end(&claim, &end);
        claim.job
    }
}
