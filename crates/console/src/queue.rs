//! Jobs: what pages and API do alike. Every change ends up in the audit trail.

use catalog::{Cancelled, Job, LogLevel, NewJob, RulesKind, URGENT};
use jobs::HarvestParameters;

use crate::parts::Errors;
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
    let line = format!("cancelled by {} {details}", who.account.name);
    state.catalog().log_job(id, LogLevel::Info, &line).await?;
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
    let parameters = HarvestParameters::parse(&new.parameters);
    let parameters = parameters.map_err(|error| Problem::invalid(jobs::message(&error)))?;
    if new.metadata_prefix.is_empty() {
        new.metadata_prefix = parameters.usual_prefix().to_owned();
    }
    let mut errors = Errors::default();
    check_target(&new, &mut errors);
    check_rules(state, &parameters, &mut errors).await?;
    errors.into_problem()?;
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

/// Notes what no repository could be asked for.
fn check_target(new: &NewJob, errors: &mut Errors) {
    let prefix = &new.metadata_prefix;
    if oai::MetadataPrefix::parse(prefix).is_none() {
        let message = format!("`{prefix}` cannot be a format; write something like oai_dc");
        errors.add("metadata_prefix", message);
    }
    if let Some(set) = &new.set
        && oai::SetSpec::parse(set).is_none()
    {
        let message = format!("`{set}` cannot be a set; write its setSpec, without spaces");
        errors.add("set", message);
    }
}

/// Notes rules that are not there.
async fn check_rules(
    state: &ConsoleState,
    parameters: &HarvestParameters,
    errors: &mut Errors,
) -> Result<(), Problem> {
    for (field, kind, number) in [
        ("filter", RulesKind::Filter, parameters.filter),
        ("normalise", RulesKind::Mapping, parameters.normalise),
    ] {
        let Some(number) = number else { continue };
        let found = state.catalog().rules_of(number).await?;
        if found.is_none_or(|rules| rules.kind != kind) {
            let what = kind.name();
            let message = format!("there is no {what} with the number {number}; choose another");
            errors.add(field, message);
        }
    }
    Ok(())
}

/// What the audit trail calls a job.
fn named(job: &Job) -> String {
    let about = job.base_url.as_deref().unwrap_or(job.kind.name());
    format!("job {} ({about})", job.id)
}
