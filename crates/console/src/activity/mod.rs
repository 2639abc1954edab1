//! Pages of work that is ordered: runs, schedules, and the addresses of older pages about jobs.

pub(crate) mod history;
pub(crate) mod jobs;
pub(crate) mod runs;
pub(crate) mod schedules;
