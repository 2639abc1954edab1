//! The log of a job: what somebody who looks at it later wants to know.

use std::sync::atomic::{AtomicU64, Ordering};

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

    /// Writes a line about what a server or a source does, unless `written` says that there are too many of them.
    pub(super) fn event(&self, written: &AtomicU64, level: LogLevel, line: &str) {
        match written.fetch_add(1, Ordering::Relaxed) {
            0..MOST_EVENTS => self.write(level, line),
            MOST_EVENTS => self.warning(&format!(
                "the log has {MOST_EVENTS} refusals and decisions of this attempt; further ones are only counted"
            )),
            _ => {}
        }
        tracing::debug!(job.id = self.job, "{line}");
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
            JobEnd::GivenBack => self.info("given back to the queue; it resumes later"),
            JobEnd::PutOff { wait, reason } => {
                let seconds = wait.as_secs();
                self.warning(&format!(
                    "put back into the queue for {seconds} s, which uses up no attempt: {reason}"
                ));
            }
            JobEnd::Failed {
                reason,
                retry_in: Some(wait),
            } => {
                let seconds = wait.as_secs();
                self.warning(&format!("failed: {reason}; next attempt in {seconds} s"));
            }
            JobEnd::Failed { reason, .. } => self.error(&format!("failed: {reason}")),
        }
    }

    /// Logs that the job now belongs to another worker.
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

/// A server that fails for hours must not fill the catalog.
const MOST_EVENTS: u64 = 1000;
