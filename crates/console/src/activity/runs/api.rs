//! `/api/v1/runs`: harvests, imports and other work, queued, running or over.

use axum::extract::State;
use operations::Listed;
use operations::jobs::{CancelledJob, LogLine};
use operations::runs::{
    self, FailuresByCause, Problem, ProblemFilter, RetriedRuns, Run, RunFilter,
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::Reply;
use crate::extract::{Json, Path, Query};
use crate::jobs::api::LogParameters;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// Which failures are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FailureParameters {
    /// Failures of this many last days; the default is 7.
    days: Option<u32>,
}

/// Which failed runs are retried.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetryBody {
    /// The cause of a group of failures; all causes if it is absent.
    cause: Option<String>,
    /// Failures of this many last days; the default is 7.
    days: Option<u32>,
}

/// Which failures are acknowledged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcknowledgeBody {
    /// The cause of a group of failures.
    cause: String,
    /// The overview leaves out new failures for it too for this many days; without it the next one ends it.
    mute_days: Option<u32>,
    /// Whether the acknowledgement is taken back.
    #[serde(default)]
    undo: bool,
    /// Failures of this many last days; the default is 7.
    days: Option<u32>,
}

/// How a run is run again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AgainBody {
    /// Whether a harvest harvests everything.
    full: bool,
}

/// Lists runs, the newest first; those that wait in the order of their times, if no others are asked for
#[utoipa::path(get, path = "/api/v1/runs", tag = "runs", operation_id = "list_runs",
    params(RunFilter), responses((status = 200, body = Listed<Run>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<RunFilter>,
) -> Reply<Listed<Run>> {
    Ok(axum::Json(runs::list(state.context(), &filter).await?))
}

/// Groups the unresolved failures by their causes: those without a later run of the same that succeeded
#[utoipa::path(get, path = "/api/v1/runs/failures", tag = "runs", operation_id = "list_failures",
    params(FailureParameters), responses((status = 200, body = FailuresByCause)))]
pub(crate) async fn failures(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<FailureParameters>,
) -> Reply<FailuresByCause> {
    let days = parameters.days.unwrap_or(DAYS);
    Ok(axum::Json(runs::failures(state.context(), days).await?))
}

/// Retries the runs that failed for one cause, or for any: of each target the last one
#[utoipa::path(post, path = "/api/v1/runs/retry", tag = "runs", operation_id = "retry_failures",
    request_body = RetryBody, responses((status = 200, body = RetriedRuns)))]
pub(crate) async fn retry_failed(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(body): Json<RetryBody>,
) -> Reply<RetriedRuns> {
    let (days, cause) = (body.days.unwrap_or(DAYS), body.cause.as_deref());
    let retried = runs::retry_failed(state.context(), &who.actor(), days, cause).await?;
    Ok(axum::Json(retried))
}

/// Acknowledges the failures of one cause: the overview leaves them out
#[utoipa::path(post, path = "/api/v1/runs/acknowledge", tag = "runs", operation_id = "acknowledge_failures",
    request_body = AcknowledgeBody, responses((status = 200, body = FailuresByCause)))]
pub(crate) async fn acknowledge(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(body): Json<AcknowledgeBody>,
) -> Reply<FailuresByCause> {
    let (context, days) = (state.context(), body.days.unwrap_or(DAYS));
    let failures = match body.undo {
        true => {
            runs::unacknowledge(context, &who.actor(), &body.cause).await?;
            runs::failures(context, days).await?
        }
        false => {
            runs::acknowledge(context, &who.actor(), days, &body.cause, body.mute_days).await?
        }
    };
    Ok(axum::Json(failures))
}

/// Shows a run
#[utoipa::path(get, path = "/api/v1/runs/{id}", tag = "runs", operation_id = "show_run",
    params(("id" = i64, Path)), responses((status = 200, body = Run)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Run> {
    Ok(axum::Json(runs::show(state.context(), id).await?))
}

/// The log of a run, the oldest line first; `next` is for `after`
#[utoipa::path(get, path = "/api/v1/runs/{id}/log", tag = "runs", operation_id = "run_log",
    params(("id" = i64, Path), LogParameters), responses((status = 200, body = Listed<LogLine>)))]
pub(crate) async fn log(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<LogParameters>,
) -> Reply<Listed<LogLine>> {
    let (after, limit) = parameters.part();
    Ok(axum::Json(
        runs::log(state.context(), id, after, limit).await?,
    ))
}

/// The problems of a run: skipped, repaired or lost records; `next` is for `after`
#[utoipa::path(get, path = "/api/v1/runs/{id}/problems", tag = "runs", operation_id = "run_problems",
    params(("id" = i64, Path), ProblemFilter), responses((status = 200, body = Listed<Problem>)))]
pub(crate) async fn problems(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(filter): Query<ProblemFilter>,
) -> Reply<Listed<Problem>> {
    Ok(axum::Json(
        runs::problems(state.context(), id, &filter).await?,
    ))
}

/// Stops a run, or withdraws it from the queue; what it has so far is kept
#[utoipa::path(post, path = "/api/v1/runs/{id}/stop", tag = "runs", operation_id = "stop_run",
    params(("id" = i64, Path)), responses((status = 200, body = CancelledJob)))]
pub(crate) async fn stop(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<CancelledJob> {
    Ok(axum::Json(
        runs::stop(state.context(), &who.actor(), id).await?,
    ))
}

/// Retries a run that failed or was cancelled, under its own number
#[utoipa::path(post, path = "/api/v1/runs/{id}/retry", tag = "runs", operation_id = "retry_run",
    params(("id" = i64, Path)), responses((status = 200, body = Run)))]
pub(crate) async fn retry(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Run> {
    Ok(axum::Json(
        runs::retry(state.context(), &who.actor(), id).await?,
    ))
}

/// Runs the same again, as a new run
#[utoipa::path(post, path = "/api/v1/runs/{id}/again", tag = "runs", operation_id = "run_again",
    params(("id" = i64, Path)), request_body = AgainBody, responses((status = 200, body = Run)))]
pub(crate) async fn again(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(body): Json<AgainBody>,
) -> Reply<Run> {
    let run = runs::again(state.context(), &who.actor(), id, body.full).await?;
    Ok(axum::Json(run))
}

/// Failures of as many last days are looked at.
pub(crate) const DAYS: u32 = 7;
