//! The job that an import is done for: who may write for it, and what becomes of it when the import ends.

use catalog::{ImportState, JobEnd, JobLease};

use crate::pulse::Pulse;

/// A job that this process holds, and that an import is done for.
pub struct ImportJob<'a> {
    /// The lease that every write for the job carries.
    pub lease: JobLease,
    /// Whether files may be written.
    pub pulse: &'a Pulse,
    /// Hears how the import ended, and decides what becomes of the job. Both are written down together.
    pub decide: &'a dyn Fn(&ImportEnded<'_>) -> ImportVerdict,
}

/// How an import ended.
#[derive(Debug)]
pub struct ImportEnded<'a> {
    /// The state that the history keeps.
    pub state: ImportState,
    /// The error that ended the import.
    pub error: Option<&'a anyhow::Error>,
}

/// The decision on a job whose import ended.
#[derive(Debug)]
pub struct ImportVerdict {
    /// The end of the job.
    pub end: JobEnd,
    /// Replaces the reason in the history.
    pub reason: Option<String>,
}
