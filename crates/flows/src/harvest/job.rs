//! The job that a harvest is done for: who may write for it, and what becomes of it when the harvest ends.

use catalog::{Counts, JobEnd, JobLease, NewJob, State};

use crate::pulse::Pulse;

/// A job that this process holds, and that a harvest is done for.
pub struct HarvestJob<'a> {
    /// The lease that every write for the job carries.
    pub lease: JobLease,
    /// Whether files may be written.
    pub pulse: &'a Pulse,
    /// Hears how the harvest ended, and decides what becomes of the job. Both are written down together.
    pub decide: &'a dyn Fn(&Ended) -> Verdict,
}

/// How a harvest ended.
#[derive(Debug)]
pub struct Ended<'a> {
    /// The number of its history entry, if it came to one.
    pub harvest: Option<i64>,
    /// The state that the history keeps.
    pub state: State,
    /// Why the harvest did not end well.
    pub reason: Option<&'a str>,
    /// The error that ended the harvest.
    pub error: Option<&'a anyhow::Error>,
    /// The counts of the whole harvest.
    pub counts: Counts,
}

/// The decision on a job whose harvest ended.
#[derive(Debug)]
pub struct Verdict {
    /// The end of the job.
    pub end: JobEnd,
    /// Replaces the reason in the history.
    pub reason: Option<String>,
    /// Jobs that are added with the end of this one.
    pub follow_ups: Vec<NewJob>,
}
