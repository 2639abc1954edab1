//! Jobs: harvests, imports and others that wait, run or are over.

mod access;
mod entity;
mod rules;
mod why;

use catalog::{Cancelled, JobQuery, LogLevel, NewJob, Role, URGENT};
use flows::{ClassifyCollection, HarvestOrder, ImportOrder};

pub(crate) use self::access::keep as keep_access;
pub use self::entity::{CancelledJob, Job, LogLine};
pub(crate) use self::rules::adopt as adopt_rules;
pub use self::why::{JobActivity, Why, WhyCode, explained, why};
use crate::import_rules::permit;
use crate::schedules::checks::Target;
use crate::{Actor, Channel, Context, HarvestPatch, ImportPatch, Listed, Refusal, Time};

/// A harvest for the queue.
#[derive(Debug, Clone, Default)]
pub struct NewHarvest {
    /// The number of the repository.
    pub repository: i64,
    /// The format; the default of the order if it is empty.
    pub metadata_prefix: String,
    /// The set, or all.
    pub set: Option<String>,
    /// Settings of the harvest.
    pub patch: HarvestPatch,
    /// When it is due; at once by default.
    pub run_at: Option<Time>,
}

/// Lists jobs: those that run, then those that wait by their times, then the others, the newest first.
pub async fn list(context: &Context, query: &JobQuery) -> Result<Listed<Job>, Refusal> {
    let query = JobQuery {
        limit: query.limit.saturating_add(1),
        ..query.clone()
    };
    let jobs = context.catalog().jobs(&query).await?;
    Ok(Listed::page(
        explained(context, jobs).await?,
        query.limit - 1,
        |job| job.id,
    ))
}

/// Shows a job.
pub async fn show(context: &Context, id: i64) -> Result<Job, Refusal> {
    let job = explained(context, vec![row(context, id).await?]).await?;
    job.into_iter().next().ok_or_else(|| unknown(id))
}

/// The log of a job behind the line `after`, the oldest line first.
pub async fn log(
    context: &Context,
    id: i64,
    after: i64,
    limit: u64,
) -> Result<Listed<LogLine>, Refusal> {
    row(context, id).await?;
    let lines = context
        .catalog()
        .job_log(id, after, limit.saturating_add(1))
        .await?;
    Ok(Listed::page(lines, limit, |line| line.id))
}

/// Withdraws a job that waits, or asks one that runs to stop; what it has so far is kept.
pub async fn cancel(context: &Context, actor: &Actor, id: i64) -> Result<CancelledJob, Refusal> {
    actor.require(Role::Operator)?;
    let before = row(context, id).await?;
    let catalog = context.catalog();
    let (asked, details) = match catalog.cancel_job(id).await? {
        Cancelled::Withdrawn => (false, "before it began"),
        Cancelled::Asked => (true, "while it ran"),
        Cancelled::Over(over) => {
            let over = over.name();
            return Err(Refusal::conflict(format!(
                "job {id} was over before it could be stopped: it is {over}"
            )));
        }
        Cancelled::Unknown => return Err(unknown(id)),
    };
    let line = format!("cancelled by {} {details}", actor.name);
    catalog.log_job(id, LogLevel::Info, &line).await?;
    let details = Some(details.to_owned());
    context
        .audit(actor, "job.cancel", subject(&before), details)
        .await;
    let job = show(context, id).await?;
    Ok(CancelledJob { asked, job })
}

/// Puts a job that failed or was cancelled into the queue again.
pub async fn retry(context: &Context, actor: &Actor, id: i64) -> Result<Job, Refusal> {
    actor.require(Role::Operator)?;
    let job = context.catalog().retry_job(id).await?;
    context.audit(actor, "job.retry", subject(&job), None).await;
    Ok(job.into())
}

/// Puts a harvest into the queue, before those that are due by themselves.
pub async fn harvest(context: &Context, actor: &Actor, new: &NewHarvest) -> Result<Job, Refusal> {
    actor.require(Role::Operator)?;
    let mut order = HarvestOrder::default();
    new.patch.apply(&mut order);
    let prefix = match new.metadata_prefix.trim() {
        "" => order.default_prefix(),
        prefix => prefix,
    };
    let set = new
        .set
        .as_deref()
        .map(str::trim)
        .filter(|set| !set.is_empty());
    let target = Target::find(context, new.repository).await?;
    let mistakes = target.check(context, actor, prefix, set, &order).await?;
    Refusal::unless_empty(mistakes)?;
    if actor.channel == Channel::CommandLine {
        adopt_rules(context, actor, &mut order).await?;
    }
    keep_access(context, &new.patch, &target.repository.base_url, &mut order)?;
    let job = NewJob {
        set: set.map(str::to_owned),
        parameters: order.text()?,
        ..NewJob::harvest(new.repository, prefix)
    };
    add(context, actor, job, new.run_at, None).await
}

/// Puts an import into the queue, before those that are due by themselves.
pub async fn import(
    context: &Context,
    actor: &Actor,
    patch: &ImportPatch,
    run_at: Option<Time>,
) -> Result<Job, Refusal> {
    let order = ordered_import(context, actor, patch).await?;
    let listed = tokio::task::spawn_blocking(move || {
        let mut order = order;
        let listed = order.list_sources();
        (order, listed)
    });
    let (order, listed) = listed.await.map_err(anyhow::Error::from)?;
    // A console that does not see the files may still order what workers do; the command line is where they are.
    if actor.channel == Channel::CommandLine {
        listed?;
    }
    let named = order.files().into_iter();
    let named: Vec<_> = named.map(|(_, path)| path.display().to_string()).collect();
    let job = NewJob::import(order.text()?);
    add(context, actor, job, run_at, Some(named.join(", "))).await
}

/// The import that a patch of the configured one orders, if the actor may order it.
pub(crate) async fn ordered_import(
    context: &Context,
    actor: &Actor,
    patch: &ImportPatch,
) -> Result<ImportOrder, Refusal> {
    actor.require(Role::Operator)?;
    let mut order = context.settings().imports.default.clone();
    // The command line imports what its configuration names.
    if actor.channel != Channel::CommandLine {
        order.paths.clear();
    }
    let mut mistakes = patch.apply(&mut order);
    mistakes.extend(permit(context, actor, &mut order, None).await?);
    Refusal::unless_empty(mistakes)?;
    Ok(order)
}

/// Puts a new classification of the collection into the queue.
pub async fn classify(
    context: &Context,
    actor: &Actor,
    order: &ClassifyCollection,
) -> Result<Job, Refusal> {
    actor.require(Role::Operator)?;
    let order = serde_json::to_string(order).map_err(anyhow::Error::from)?;
    add(context, actor, NewJob::classify(order), None, None).await
}

pub(crate) async fn add(
    context: &Context,
    actor: &Actor,
    new: NewJob,
    run_at: Option<Time>,
    details: Option<String>,
) -> Result<Job, Refusal> {
    let new = NewJob {
        run_at: run_at.map(|time| time.0),
        priority: URGENT,
        max_attempts: context.settings().attempts,
        created_by: Some(actor.name.clone()),
        ..new
    };
    let job = context.catalog().add_job(&new).await?;
    context
        .audit(actor, "job.add", subject(&job), details)
        .await;
    Ok(job.into())
}

async fn row(context: &Context, id: i64) -> Result<catalog::Job, Refusal> {
    let job = context.catalog().job(id).await?;
    job.ok_or_else(|| unknown(id))
}

fn unknown(id: i64) -> Refusal {
    Refusal::from(catalog::Error::UnknownJob { id })
}

/// The subject of a job in the audit trail.
fn subject(job: &catalog::Job) -> String {
    let about = job.base_url.as_deref().unwrap_or(job.kind.name());
    format!("job {} ({about})", job.id)
}
