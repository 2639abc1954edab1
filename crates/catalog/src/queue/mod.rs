//! The queue: jobs, their leases, and the schedules that add them.

pub(crate) mod beats;
pub(crate) mod claims;
pub(crate) mod ends;
pub(crate) mod job;
pub(crate) mod jobs;
pub(crate) mod lease;
pub(crate) mod log;
pub(crate) mod outlook;
pub(crate) mod owner;
pub(crate) mod planning;
pub(crate) mod quiet;
pub(crate) mod running;
pub(crate) mod schedule;
pub(crate) mod schedules;
pub(crate) mod standing;
pub(crate) mod workers;
