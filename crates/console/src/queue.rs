//! Jobs: what pages and API do alike. Every change ends up in the audit trail.

use catalog::{Cancelled, Job, NewJob};
use jobs::HarvestParameters;

use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Who;

/// The job with this number.
pub(crate) async fn job(state: &ConsoleState, id: i64) -> Result<Job, Problem> {
    let job = state.catalog().job(id).await?;
    job.ok_or_else(|| Problem::from(catalog::Error::UnknownJob { id }))
}

/// Withdraws a job that waits, or asks one that runs to stop. What was over already is a conflict.
pub(crate) async fn cancel(state: &ConsoleState, who: &Who, id: i64) -> Result<Cancelled, Problem> {
    let job = job(state, id).await?;
    let cancelled = state.catalog().cancel_job(id).await?;
    let details = match cancelled {
        Cancelled::Withdrawn => "before it began",
        Cancelled::Asked => "while it ran",
        Cancelled::Over(over) => {
            return Err(Problem::conflict(format!(
                "job {id} was over before it could be stopped: it is {}",
                over.name()
            )));
        }
        Cancelled::Unknown => return Err(catalog::Error::UnknownJob { id }.into()),
    };
    state
        .audit(who, "job.cancel", named(&job), Some(details.to_owned()))
        .await;
    Ok(cancelled)
}

/// Puts a job that failed or was cancelled into the queue again.
pub(crate) async fn retry(state: &ConsoleState, who: &Who, id: i64) -> Result<Job, Problem> {
    let job = state.catalog().retry_job(id).await?;
    state.audit(who, "job.retry", named(&job), None).await;
    Ok(job)
}

/// Puts a harvest into the queue, before those that are due by themselves.
pub(crate) async fn add_harvest(
    state: &ConsoleState,
    who: &Who,
    mut new: NewJob,
) -> Result<Job, Problem> {
    if new.metadata_prefix.is_empty() {
        new.metadata_prefix = "oai_dc".to_owned();
    }
    let parameters = HarvestParameters::parse(&new.parameters);
    let parameters = parameters.map_err(|error| Problem::invalid(jobs::message(&error)))?;
    let new = NewJob {
        parameters: parameters.text()?,
        created_by: Some(who.account.name.clone()),
        priority: URGENT,
        max_attempts: jobs::ATTEMPTS,
        ..new
    };
    let job = state.catalog().add_job(&new).await?;
    state.audit(who, "job.add", named(&job), None).await;
    Ok(job)
}

/// What the audit trail calls a job.
fn named(job: &Job) -> String {
    let about = job.base_url.as_deref().unwrap_or(job.kind.name());
    format!("job {} ({about})", job.id)
}

/// The priority of what somebody waits for.
const URGENT: i64 = 1;
