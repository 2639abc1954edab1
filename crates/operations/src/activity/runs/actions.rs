//! The actions of runs: stop, retry, run again.

use std::collections::HashSet;

use catalog::{JobKind, NewJob, Role, URGENT};
use flows::{HarvestOrder, ImportOrder};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::failures::{runs_of_cause, target};
use super::{Run, RunState, show};
use crate::harvests::Removed;
use crate::import_rules::permit;
use crate::imports;
use crate::jobs::{self, CancelledJob};
use crate::{Actor, Context, Refusal};

/// Runs that were retried together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RetriedRuns {
    /// The runs that are in the queue again.
    pub retried: Vec<i64>,
    /// The runs that are not, and why.
    pub skipped: Vec<SkippedRun>,
}

/// A run that was not retried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SkippedRun {
    /// Its number.
    pub run: i64,
    /// Why.
    pub reason: String,
}

/// Stops a run, or withdraws it from the queue; what it has so far is kept.
pub async fn stop(context: &Context, actor: &Actor, id: i64) -> Result<CancelledJob, Refusal> {
    let run = show(context, id).await?;
    match &run.job {
        Some(job) => jobs::cancel(context, actor, job.id).await,
        None => Err(of_command(actor, &run)?),
    }
}

/// Puts a run that failed or was cancelled into the queue again, under its own number.
pub async fn retry(context: &Context, actor: &Actor, id: i64) -> Result<Run, Refusal> {
    let run = show(context, id).await?;
    let Some(job) = &run.job else {
        return again(context, actor, id, false).await;
    };
    jobs::retry(context, actor, job.id).await?;
    show(context, job.id).await
}

/// Puts what a run did into the queue as a new run, with the same settings; a harvest in full if that is wanted.
pub async fn again(
    context: &Context,
    actor: &Actor,
    id: i64,
    in_full: bool,
) -> Result<Run, Refusal> {
    actor.require(Role::Operator)?;
    let run = show(context, id).await?;
    if !run.state.is_over() {
        let state = run.state.name();
        return Err(Refusal::conflict(format!(
            "run {id} is {state}; it can be run again when it is over"
        )));
    }
    let new = match run.kind {
        JobKind::Harvest => harvest(&run, in_full)?,
        JobKind::Import => import(context, actor, &run).await?,
        JobKind::Classify => NewJob::classify(parameters(&run)),
        JobKind::Retrieve => NewJob::retrieve(parameters(&run)),
        JobKind::Feed => NewJob::feed(parameters(&run)),
        JobKind::Clean => NewJob::clean(parameters(&run)),
        JobKind::Hook | JobKind::Quiet => {
            let kind = run.kind.name();
            return Err(Refusal::conflict(format!(
                "run {id} is a {kind}, which cannot be run again by itself"
            )));
        }
    };
    let new = NewJob {
        priority: URGENT,
        max_attempts: context.settings().attempts,
        created_by: Some(actor.name.clone()),
        ..new
    };
    let job = context.catalog().add_job(&new).await?;
    let details = match in_full {
        true => format!("run {id} again, in full"),
        false => format!("run {id} again"),
    };
    let subject = format!("job {} ({})", job.id, run.title);
    context
        .audit(actor, "job.add", subject, Some(details))
        .await;
    show(context, job.id).await
}

/// Retries the runs that failed for one cause in the last `days`, or for any: of each schedule and each target the last
/// one.
pub async fn retry_failed(
    context: &Context,
    actor: &Actor,
    days: u32,
    cause: Option<&str>,
) -> Result<RetriedRuns, Refusal> {
    actor.require(Role::Operator)?;
    let mut result = RetriedRuns {
        retried: Vec::new(),
        skipped: Vec::new(),
    };
    let mut seen = HashSet::new();
    for run in runs_of_cause(context, days, cause).await? {
        // The latest come first.
        if !seen.insert(target(&run)) {
            continue;
        }
        if !run.is_job {
            result.skipped.push(SkippedRun {
                run: run.id,
                reason: "a command ran it; repeat the command".to_owned(),
            });
            continue;
        }
        match jobs::retry(context, actor, run.id).await {
            Ok(_) => result.retried.push(run.id),
            Err(refusal) => result.skipped.push(SkippedRun {
                run: run.id,
                reason: refusal.message(),
            }),
        }
    }
    Ok(result)
}

/// Removes runs that are over, with what the history has of them; records and documents stay.
pub async fn remove(context: &Context, actor: &Actor, ids: &[i64]) -> Result<Removed, Refusal> {
    actor.require(Role::Operator)?;
    let mut runs = Vec::with_capacity(ids.len());
    for id in ids {
        let run = show(context, *id).await?;
        if !run.state.is_over() {
            let state = run.state.name();
            return Err(Refusal::conflict(format!(
                "run {id} is {state}; stop it before it is removed"
            )));
        }
        runs.push(run);
    }
    let catalog = context.catalog();
    for run in &runs {
        if let Some(harvest) = &run.harvest {
            catalog.remove_history_entry(harvest.id).await?;
        }
        if let Some(import) = &run.import {
            imports::remove(context, actor, &[import.id]).await?;
        }
        if let Some(job) = &run.job {
            catalog.remove_job(job.id).await?;
        }
    }
    let removed = runs.len() as u64;
    if removed > 0 {
        let numbers: Vec<_> = runs.iter().map(|run| run.id.to_string()).collect();
        let subject = format!("run {}", numbers.join(", "));
        context.audit(actor, "run.remove", subject, None).await;
    }
    Ok(Removed { removed })
}

fn of_command(actor: &Actor, run: &Run) -> Result<Refusal, Refusal> {
    actor.require(Role::Operator)?;
    let worker = run.harvest.as_ref().map(|harvest| &harvest.worker);
    let worker = worker.or(run.import.as_ref().map(|import| &import.worker));
    Ok(Refusal::conflict(match (run.state, worker) {
        (RunState::Running, Some(worker)) => {
            format!(
                "a command runs run {}: {worker}; press Ctrl-C there",
                run.id
            )
        }
        _ => format!("run {} is over", run.id),
    }))
}

/// The parameters of the run's job, as JSON.
fn parameters(run: &Run) -> String {
    let parameters = run.job.as_ref().map(|job| job.parameters.to_string());
    parameters.unwrap_or_else(|| "{}".to_owned())
}

/// The same harvest for the queue.
fn harvest(run: &Run, in_full: bool) -> Result<NewJob, Refusal> {
    let id = run.id;
    let repository = run
        .repository
        .ok_or_else(|| Refusal::conflict(format!("the repository of run {id} was removed")))?;
    let (prefix, set, parameters) = match (&run.job, &run.harvest) {
        (Some(job), _) => (&job.metadata_prefix, &job.set, job.parameters.clone()),
        (None, Some(harvest)) => (
            &harvest.metadata_prefix,
            &harvest.set,
            of_history(id, &harvest.parameters)?,
        ),
        (None, None) => return Err(Refusal::not_found(format!("nothing is known of run {id}"))),
    };
    let mut order = HarvestOrder::parse(&parameters.to_string())?;
    if in_full {
        (order.full, order.from, order.until) = (true, None, None);
    }
    Ok(NewJob {
        set: set.clone(),
        parameters: order.text()?,
        ..NewJob::harvest(repository, prefix.clone())
    })
}

/// The order of a harvest whose job is gone, from the history. Files of the machine that ran it cannot be named again.
fn of_history(id: i64, parameters: &Value) -> Result<Value, Refusal> {
    let known = serde_json::to_value(HarvestOrder::default()).map_err(anyhow::Error::from)?;
    let optional = [
        "from",
        "until",
        "contact",
        "user_agent",
        "headers",
        "interval_ms",
        "connections",
        "timeout_ms",
        "attempts",
        "longest_wait_ms",
        "first_page_parts",
        "via",
        "other_hosts",
    ];
    let mut order = serde_json::Map::new();
    for (name, value) in parameters.as_object().into_iter().flatten() {
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if matches!(
            name.as_str(),
            "filter" | "normalise" | "schemas" | "unpack" | "warc" | "access"
        ) {
            if !is_empty {
                let name = name.replace('_', " ");
                return Err(Refusal::conflict(format!(
                    "run {id} has a setting that only its command can name again: {name}; repeat the command or add a schedule"
                )));
            }
        } else if !is_empty && (known.get(name).is_some() || optional.contains(&name.as_str())) {
            order.insert(name.clone(), value.clone());
        }
    }
    Ok(Value::Object(order))
}

/// The same import for the queue.
async fn import(context: &Context, actor: &Actor, run: &Run) -> Result<NewJob, Refusal> {
    let id = run.id;
    let Some(job) = &run.job else {
        return Err(Refusal::conflict(format!(
            "a command ran run {id}; repeat the command, or order the import anew"
        )));
    };
    let mut order = ImportOrder::parse(&job.parameters.to_string())?;
    Refusal::unless_empty(permit(context, actor, &mut order, None).await?)?;
    Ok(NewJob::import(order.text()?))
}
