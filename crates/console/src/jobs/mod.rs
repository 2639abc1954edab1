//! Jobs: pages and API. What waits and runs, what is over, one job with its log, and the ways to stop and to retry.

pub(crate) mod actions;
pub(crate) mod api;
pub(crate) mod current;
pub(crate) mod ended;
mod line;
pub(crate) mod show;

use catalog::Job;

pub(crate) use self::line::JobLine;
use crate::problem::Problem;
use crate::state::ConsoleState;

/// The job with this number.
pub(crate) async fn job(state: &ConsoleState, id: i64) -> Result<Job, Problem> {
    let job = state.catalog().job(id).await?;
    job.ok_or_else(|| Problem::from(catalog::Error::UnknownJob { id }))
}
