//! The job that an import is done for: who may write for it, and what becomes of it when the import ends.

use catalog::{ImportState, JobEnd, JobLease};

use crate::pulse::Pulse;

/// A job that this process holds, and that an import is done for.
pub(crate) struct ImportJob<'a> {
    /// What every write for it carries.
    pub(crate) lease: JobLease,
    /// Whether files may be written.
    pub(crate) pulse: &'a Pulse,
    /// Hears how the import ended, and decides what becomes of the job. Both are written down together.
    pub(crate) decide: &'a dyn Fn(&ImportEnded<'_>) -> ImportVerdict,
}

/// How an import ended.
pub(crate) struct ImportEnded<'a> {
    pub(crate) state: ImportState,
    pub(crate) error: Option<&'a anyhow::Error>,
}

/// What becomes of the job.
pub(crate) struct ImportVerdict {
    pub(crate) end: JobEnd,
    /// What is said of the import instead of its own reason.
    pub(crate) reason: Option<String>,
}
