//! The log of a job: what somebody who looks at it later wants to know.

use catalog::{Claim, JobEnd, LogLevel};

use flows::Holdings;

/// Where lines about one job go: to the catalog, and those that matter to the log of the process too.
pub(super) struct Log<'a> {
    holdings: &'a Holdings,
    job: i64,
}

impl<'a> Log<'a> {
    pub(super) fn new(holdings: &'a Holdings, job: i64) -> Self {
        Self { holdings, job }
    }

    pub(super) fn begun(&self, claim: &Claim) {
        let job = &claim.job;
        let worker = job.worker.as_deref().unwrap_or("a worker");
        let attempt = match job.max_attempts {
            1 => String::new(),
            most => format!(", attempt {} of {most}", job.attempt),
        };
        self.info(&format!("begun by {worker}{attempt}"));
    }

    pub(super) fn ended(&self, end: &JobEnd) {
        match end {
            JobEnd::Finished => self.info("finished"),
            JobEnd::Cancelled => self.info("cancelled"),
            JobEnd::GivenBack => self.info("given back to the queue; it goes on later"),
            JobEnd::PutOff { wait } => {
                self.info(&format!("put off for {} s", wait.as_secs()));
            }
            JobEnd::Failed {
                reason,
                retry_in: Some(wait),
            } => {
                let seconds = wait.as_secs();
                self.warning(&format!("failed: {reason}; tried again in {seconds} s"));
            }
            JobEnd::Failed { reason, .. } => self.error(&format!("failed: {reason}")),
        }
    }

    /// What a worker says that finds its job to be another's.
    pub(super) fn fenced(&self, claim: &Claim) {
        let worker = claim.job.worker.as_deref().unwrap_or("a worker");
        self.warning(&format!(
            "{worker} was fenced: the job is not its own any more, and it wrote nothing more for it"
        ));
    }

    pub(super) fn info(&self, line: &str) {
        tracing::info!(job.id = self.job, "{line}");
        self.write(LogLevel::Info, line);
    }

    pub(super) fn warning(&self, line: &str) {
        tracing::warn!(job.id = self.job, "{line}");
        self.write(LogLevel::Warning, line);
    }

    pub(super) fn error(&self, line: &str) {
        tracing::error!(job.id = self.job, "{line}");
        self.write(LogLevel::Error, line);
    }

    fn write(&self, level: LogLevel, line: &str) {
        let written = self.holdings.catalog().log_job(self.job, level, line);
        // A line that is lost while the catalog is away is on stderr.
        if let Err(error) = self.holdings.wait(written) {
            tracing::debug!(job.id = self.job, "a line is not in the job's log: {error}");
        }
    }
}
