//! Quiet times: no harvest of a repository while somebody builds an index or a backup.
//!
//! A quiet time has a lease; its holder renews it, and ends it. One that is not renewed ends by itself.

use std::time::Duration;

use catalog::{
    Answer, Beat, Error, Job, JobEnd, JobKind, JobLease, JobProgress, JobQuery, JobState, Role,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::read;
use crate::{Actor, Channel, Context, Refusal, Time};

/// A quiet time to begin.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewQuiet {
    /// Its purpose; others read it.
    #[serde(default)]
    pub why: String,
    /// Seconds until it ends, unless it is renewed.
    #[schema(minimum = 5, maximum = 86400)]
    pub seconds: u64,
}

/// A quiet time to renew.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RenewedQuiet {
    /// The number of its job.
    pub job: i64,
    /// The proof that it is one's own.
    pub token: i64,
    /// Seconds from now until it ends.
    #[schema(minimum = 5, maximum = 86400)]
    pub seconds: u64,
}

/// A quiet time to end.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HeldQuiet {
    /// The number of its job.
    pub job: i64,
    /// The proof that it is one's own.
    pub token: i64,
}

/// A quiet time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Quiet {
    /// The number of its job.
    pub job: i64,
    /// The proof that it is one's own.
    pub token: i64,
    /// When it ends by itself.
    pub until: Time,
}

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct QuietState {
    /// Whether somebody keeps it quiet.
    pub quiet: bool,
    /// Whether it is being harvested.
    pub harvesting: bool,
    /// The number of the job that does either.
    pub job: Option<i64>,
}

/// Whether a repository is quiet or being harvested.
pub async fn show(context: &Context, id: i64) -> Result<QuietState, Refusal> {
    read(context, id).await?;
    let query = JobQuery {
        states: vec![JobState::Running],
        kinds: vec![JobKind::Harvest, JobKind::Quiet],
        repository: Some(id),
        limit: 1,
        ..JobQuery::default()
    };
    let jobs = context.catalog().jobs(&query).await?;
    let job = jobs.first();
    let is = |kind| job.is_some_and(|job| job.kind == kind);
    Ok(QuietState {
        quiet: is(JobKind::Quiet),
        harvesting: is(JobKind::Harvest),
        job: job.map(|job| job.id),
    })
}

/// Keeps harvests of a repository away. Refused while one runs. On the command line, the quiet time ends with the
/// process.
pub async fn begin(
    context: &Context,
    actor: &Actor,
    id: i64,
    new: &NewQuiet,
) -> Result<Quiet, Refusal> {
    actor.require(Role::Operator)?;
    let lease = lease(new.seconds)?;
    let why: String = new.why.chars().take(MAX_WHY).collect();
    let holder = match actor.channel {
        Channel::CommandLine => None,
        Channel::Session | Channel::Token => Some(actor.name.as_str()),
    };
    let begun = context.catalog().quiet(id, &why, lease, holder).await?;
    let subject = format!("repository {id}");
    context
        .audit(actor, "quiet.begin", subject, Some(why))
        .await;
    entity(context, begun, lease).await
}

/// Makes a quiet time longer.
pub async fn renew(
    context: &Context,
    actor: &Actor,
    id: i64,
    renewed: &RenewedQuiet,
) -> Result<Quiet, Refusal> {
    actor.require(Role::Operator)?;
    let lease = lease(renewed.seconds)?;
    let job = find(context, id, renewed.job).await?;
    let (note, job, token) = (Some(why(&job)), job.id, renewed.token);
    let held = JobLease { job, token };
    let beat = Beat {
        lease: held,
        progress: JobProgress {
            note,
            ..JobProgress::default()
        },
    };
    let heard = context.catalog().beat(&[beat], lease).await?;
    match heard.first().map(|heard| heard.answer) {
        Some(Answer::GoOn) => entity(context, held, lease).await,
        Some(Answer::CancelRequested) => Err(Refusal::conflict(
            "somebody wants this quiet time to end; stop your work, and give it back",
        )),
        _ => Err(ended(held.job)),
    }
}

/// Ends a quiet time; `end` tells how the work went that it was for.
pub async fn end(
    context: &Context,
    actor: &Actor,
    id: i64,
    held: HeldQuiet,
    end: &JobEnd,
) -> Result<(), Refusal> {
    actor.require(Role::Operator)?;
    let HeldQuiet { job, token } = held;
    find(context, id, job).await?;
    let held = JobLease { job, token };
    match context.catalog().end_job(&held, end, &[]).await {
        Ok(_) => {}
        Err(Error::JobLost { job }) => return Err(ended(job)),
        Err(error) => return Err(error.into()),
    }
    let subject = format!("repository {id}");
    context.audit(actor, "quiet.end", subject, None).await;
    Ok(())
}

/// The job of a quiet time of this repository.
async fn find(context: &Context, repository: i64, id: i64) -> Result<Job, Refusal> {
    let job = context.catalog().job(id).await?;
    let job = job.filter(|job| job.kind == JobKind::Quiet && job.repository == Some(repository));
    Ok(job.ok_or(Error::UnknownJob { id })?)
}

/// The purpose of a quiet time.
fn why(job: &Job) -> String {
    let parameters: serde_json::Value = serde_json::from_str(&job.parameters).unwrap_or_default();
    parameters["why"].as_str().unwrap_or_default().to_owned()
}

async fn entity(context: &Context, held: JobLease, lease: Duration) -> Result<Quiet, Refusal> {
    let seconds = i64::try_from(lease.as_secs()).unwrap_or(MAX_SECONDS);
    Ok(Quiet {
        job: held.job,
        token: held.token,
        until: Time(context.catalog().now().await? + seconds),
    })
}

fn lease(seconds: u64) -> Result<Duration, Refusal> {
    match i64::try_from(seconds) {
        Ok(5..=MAX_SECONDS) => Ok(Duration::from_secs(seconds)),
        _ => Err(Refusal::invalid(
            "seconds",
            format!("write a number from 5 to {MAX_SECONDS}"),
        )),
    }
}

fn ended(job: i64) -> Refusal {
    Refusal::conflict(format!(
        "the quiet time of job {job} is over; a harvest may run, so begin anew"
    ))
}

const MAX_SECONDS: i64 = 86_400;
const MAX_WHY: usize = 200;
