//! `[jobs]`: how jobs run.

use std::time::Duration;

use anyhow::bail;
use jobs::Backoff;
use operations::Settings;
use serde::Deserialize;

/// How many jobs run, and what becomes of those that fail.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct JobsConfig {
    /// How many run at once.
    pub(crate) workers: usize,
    /// Names of things that this machine has and others lack: jobs that need a tag are run where it is.
    pub(crate) tags: Vec<String>,
    /// After so many seconds without a sign of life another process takes a job over.
    pub(crate) lease_seconds: u64,
    /// How many harvests may run at one host, for all workers of the catalog; 0 is no limit.
    pub(crate) per_host: Option<u32>,
    /// How often a job is tried.
    pub(crate) attempts: i64,
    /// How long a job waits before the second attempt; it doubles from then on.
    pub(crate) retry_seconds: u64,
    /// The longest wait before an attempt.
    pub(crate) longest_retry_seconds: u64,
}

impl Default for JobsConfig {
    fn default() -> Self {
        let backoff = Backoff::default();
        Self {
            workers: 4,
            tags: Vec::new(),
            lease_seconds: 60,
            per_host: None,
            attempts: Settings::ATTEMPTS,
            retry_seconds: backoff.first.as_secs(),
            longest_retry_seconds: backoff.longest.as_secs(),
        }
    }
}

impl JobsConfig {
    /// Finds what cannot work.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if !(1..=1000).contains(&self.workers) {
            bail!("jobs.workers: write a number from 1 to 1000");
        }
        if !(2..=86_400).contains(&self.lease_seconds) {
            bail!("jobs.lease_seconds: write a number from 2 to 86400");
        }
        if !(1..=1000).contains(&self.attempts) {
            bail!("jobs.attempts: write a number from 1 to 1000");
        }
        if !self.tags.iter().all(|tag| flows::is_tag(tag)) {
            bail!("jobs.tags: {}", flows::TAGS);
        }
        Ok(())
    }

    pub(crate) fn lease(&self) -> Duration {
        Duration::from_secs(self.lease_seconds)
    }

    pub(crate) fn backoff(&self) -> Backoff {
        Backoff {
            first: Duration::from_secs(self.retry_seconds),
            longest: Duration::from_secs(self.longest_retry_seconds),
        }
    }
}
