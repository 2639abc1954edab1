//! The job that a harvest is done for: who may write for it, and what becomes of it when the harvest ends.

use catalog::{Counts, JobEnd, JobLease, NewJob, State};

use crate::pulse::Pulse;

/// A job that this process holds, and that a harvest is done for.
pub(crate) struct HarvestJob<'a> {
    /// What every write for it carries.
    pub(crate) lease: JobLease,
    /// Whether files may be written.
    pub(crate) pulse: &'a Pulse,
    /// Hears how the harvest ended, and decides what becomes of the job. Both are written down together.
    pub(crate) decide: &'a dyn Fn(&Ended) -> Verdict,
}

/// How a harvest ended.
pub(crate) struct Ended<'a> {
    /// The number of its history entry, if it came to one.
    pub(crate) harvest: Option<i64>,
    pub(crate) state: State,
    pub(crate) reason: Option<&'a str>,
    pub(crate) error: Option<&'a anyhow::Error>,
    pub(crate) counts: Counts,
}

/// What becomes of the job.
pub(crate) struct Verdict {
    pub(crate) end: JobEnd,
    /// What the history says instead of the reason that the harvest had.
    pub(crate) reason: Option<String>,
    /// What is to be done then.
    pub(crate) follow_ups: Vec<NewJob>,
}
