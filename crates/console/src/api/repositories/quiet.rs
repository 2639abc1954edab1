//! `/api/v1/repositories/{id}/quiet`: no harvest while somebody builds an index.
//!
//! Whoever wants it quiet takes it for a time, makes that longer while it goes on, and gives it back. What is not made
//! longer ends by itself.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use catalog::{Answer, Beat, JobEnd, JobKind, JobLease, JobProgress, JobQuery, JobState};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::{Reply, Time, nothing};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::queue;
use crate::repositories::repository;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// Why a repository is to be quiet, and for how long.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewQuiet {
    /// What is done meanwhile; others read it.
    #[serde(default)]
    why: String,
    /// For how many seconds, if it is not made longer.
    #[schema(minimum = 5, maximum = 86400)]
    seconds: u64,
}

/// A quiet time that somebody has.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LongerQuiet {
    /// The number of its job.
    job: i64,
    /// What shows that it is one's own.
    token: i64,
    /// For how many seconds from now.
    #[schema(minimum = 5, maximum = 86400)]
    seconds: u64,
}

/// Which quiet time is given back.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Held {
    /// The number of its job.
    job: i64,
    /// What shows that it is one's own.
    token: i64,
}

/// A quiet time.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuietJson {
    /// The number of its job.
    job: i64,
    /// What shows that it is one's own.
    token: i64,
    /// When it ends by itself.
    until: Time,
}

/// What is done with a repository at the moment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuietState {
    /// Whether somebody keeps it quiet.
    quiet: bool,
    /// Whether it is being harvested.
    harvesting: bool,
    /// The number of the job that does either.
    job: Option<i64>,
}

/// Whether a repository is quiet, or being harvested
#[utoipa::path(get, path = "/api/v1/repositories/{id}/quiet", tag = "repositories", operation_id = "show_quiet",
    params(("id" = i64, Path)), responses((status = 200, body = QuietState)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<QuietState> {
    repository(&state, id).await?;
    let query = JobQuery {
        states: vec![JobState::Running],
        kinds: vec![JobKind::Harvest, JobKind::Quiet],
        repository: Some(id),
        limit: 1,
        ..JobQuery::default()
    };
    let jobs = state.catalog().jobs(&query).await?;
    let job = jobs.first();
    let is = |kind| job.is_some_and(|job| job.kind == kind);
    Ok(axum::Json(QuietState {
        quiet: is(JobKind::Quiet),
        harvesting: is(JobKind::Harvest),
        job: job.map(|job| job.id),
    }))
}

/// Keeps harvests of a repository away; refused while one runs
#[utoipa::path(post, path = "/api/v1/repositories/{id}/quiet", tag = "repositories", operation_id = "begin_quiet",
    params(("id" = i64, Path)), request_body = NewQuiet, responses((status = 201, body = QuietJson)))]
pub(crate) async fn begin(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(wanted): Json<NewQuiet>,
) -> Result<(StatusCode, axum::Json<QuietJson>), Problem> {
    let lease = time(wanted.seconds)?;
    let why: String = wanted.why.chars().take(LONGEST_WHY).collect();
    let holder = Some(who.account.name.as_str());
    let lease_held = state.catalog().quiet(id, &why, lease, holder).await?;
    let subject = format!("repository {id}");
    state.audit(&who, "quiet.begin", subject, Some(why)).await;
    let quiet = told(&state, lease_held, lease).await?;
    Ok((StatusCode::CREATED, axum::Json(quiet)))
}

/// Makes a quiet time longer
#[utoipa::path(put, path = "/api/v1/repositories/{id}/quiet", tag = "repositories", operation_id = "renew_quiet",
    params(("id" = i64, Path)), request_body = LongerQuiet, responses((status = 200, body = QuietJson)))]
pub(crate) async fn renew(
    Operator(_who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(wanted): Json<LongerQuiet>,
) -> Reply<QuietJson> {
    let lease = time(wanted.seconds)?;
    let held = find(&state, id, wanted.job, wanted.token).await?;
    let beat = Beat {
        lease: held,
        progress: JobProgress::default(),
    };
    let heard = state.catalog().beat(&[beat], lease).await?;
    match heard.first().map(|heard| heard.answer) {
        Some(Answer::GoOn) => Ok(axum::Json(told(&state, held, lease).await?)),
        Some(Answer::CancelRequested) => Err(Problem::conflict(
            "somebody wants this quiet time to end; stop what you do, and give it back",
        )),
        _ => Err(over(held.job)),
    }
}

/// Gives a quiet time back
#[utoipa::path(delete, path = "/api/v1/repositories/{id}/quiet", tag = "repositories", operation_id = "end_quiet",
    params(("id" = i64, Path), Held), responses((status = 204)))]
pub(crate) async fn end(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(held): Query<Held>,
) -> Result<Response, Problem> {
    let held = find(&state, id, held.job, held.token).await?;
    match state.catalog().end_job(&held, &JobEnd::Finished, &[]).await {
        Ok(_) => {}
        Err(catalog::Error::JobLost { job }) => return Err(over(job)),
        Err(error) => return Err(error.into()),
    }
    let subject = format!("repository {id}");
    state.audit(&who, "quiet.end", subject, None).await;
    Ok(nothing())
}

/// The lease, if the job is a quiet time of this repository.
async fn find(
    state: &ConsoleState,
    repository: i64,
    job: i64,
    token: i64,
) -> Result<JobLease, Problem> {
    let found = queue::job(state, job).await?;
    if found.kind != JobKind::Quiet || found.repository != Some(repository) {
        return Err(catalog::Error::UnknownJob { id: job }.into());
    }
    Ok(JobLease { job, token })
}

async fn told(state: &ConsoleState, held: JobLease, lease: Duration) -> Result<QuietJson, Problem> {
    let seconds = i64::try_from(lease.as_secs()).unwrap_or(LONGEST);
    Ok(QuietJson {
        job: held.job,
        token: held.token,
        until: Time(state.catalog().now().await? + seconds),
    })
}

fn time(seconds: u64) -> Result<Duration, Problem> {
    match i64::try_from(seconds) {
        Ok(5..=LONGEST) => Ok(Duration::from_secs(seconds)),
        _ => Err(Problem::invalid(format!(
            "seconds: write a number from 5 to {LONGEST}"
        ))),
    }
}

fn over(job: i64) -> Problem {
    Problem::conflict(format!(
        "the quiet time of job {job} is over; a harvest may run, so begin anew"
    ))
}

const LONGEST: i64 = 86_400;
const LONGEST_WHY: usize = 200;
