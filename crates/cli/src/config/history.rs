//! `[history]`: how long things are kept.

use flows::ReviewLimits;
use jobs::Retention;
use serde::Deserialize;

/// How long ended things are kept; for ever if nothing is said.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HistoryConfig {
    /// Entries of the history, in days. Those that later harvests build upon stay.
    pub(crate) keep_days: Option<u32>,
    /// Jobs that are over and their logs, in days.
    pub(crate) keep_jobs_days: Option<u32>,
    /// Removed documents in the trash, in days.
    pub(crate) trash_days: u32,
    /// Documents that the content filter rejected and that wait for review, in days; 30 if nothing is said.
    pub(crate) review_days: Option<u32>,
}

impl Default for HistoryConfig {
    fn default() -> Self {
        Self {
            keep_days: None,
            keep_jobs_days: None,
            trash_days: 7,
            review_days: None,
        }
    }
}

impl HistoryConfig {
    /// As the manager has it.
    pub(crate) fn retention(&self) -> Retention {
        Retention {
            history_days: self.keep_days,
            job_days: self.keep_jobs_days,
            trash_days: Some(self.trash_days),
            reviews: ReviewLimits {
                days: self.review_days.unwrap_or(ReviewLimits::default().days),
                ..ReviewLimits::default()
            },
        }
    }
}
