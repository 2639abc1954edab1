//! Work that is ordered: schedules, runs and the jobs of the queue.

pub(crate) mod frequency;
pub mod jobs;
pub mod runs;
pub mod schedules;
