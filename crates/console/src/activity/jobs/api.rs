//! `/api/v1/jobs`: jobs that wait, run or are over.

use axum::extract::State;
use axum::http::StatusCode;
use catalog::{JobKind, JobQuery, JobState};
use operations::jobs::{self, CancelledJob, Job, LogLine, NewHarvest};
use operations::{HarvestPatch, Refusal, read_fields};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::api::{Listed, Reply, Time, limited};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// A filter of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Parameters {
    /// Those in this state: `running`, or several as `running,scheduled`.
    state: Option<String>,
    /// Those of this kind: `harvest`, `hook`, `import`, `classify`, `retrieve`, `feed`, `quiet`, or several.
    kind: Option<String>,
    /// Those about one repository.
    repository: Option<i64>,
    /// Those of one schedule.
    schedule: Option<i64>,
    /// Those with a smaller number, for the next page. Those that wait are on the first one only.
    before: Option<i64>,
    /// At most this many, up to 1000.
    limit: Option<u64>,
}

/// A part of a log.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogParameters {
    /// Lines behind the one with this number.
    after: Option<i64>,
    /// At most this many, up to 1000.
    limit: Option<u64>,
}

impl LogParameters {
    /// The number behind which lines are wanted, and how many at most.
    pub(crate) fn part(&self) -> (i64, u64) {
        (self.after.unwrap_or(0), limited(self.limit))
    }
}

/// A harvest for the queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HarvestBody {
    /// The number of the repository.
    repository: i64,
    /// The format [default: `oai_dc`, or `oai_didl` with `unpack` or `warc`].
    metadata_prefix: Option<String>,
    /// The set, or all.
    set: Option<String>,
    /// Settings of the harvest.
    #[schema(value_type = Option<HarvestPatch>)]
    parameters: Option<Map<String, Value>>,
    /// When it is due; at once by default.
    run_at: Option<Time>,
}

/// Lists jobs: those that run, then those that wait by their times, then the others, the newest first
#[utoipa::path(get, path = "/api/v1/jobs", tag = "jobs", operation_id = "list_jobs",
    params(Parameters), responses((status = 200, body = Listed<Job>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Reply<Listed<Job>> {
    let query = JobQuery {
        states: several("state", parameters.state.as_deref(), JobState::parse)?,
        kinds: several("kind", parameters.kind.as_deref(), JobKind::parse)?,
        repository: parameters.repository,
        schedule: parameters.schedule,
        before: parameters.before,
        limit: limited(parameters.limit),
    };
    Ok(axum::Json(jobs::list(state.context(), &query).await?))
}

/// Shows a job
#[utoipa::path(get, path = "/api/v1/jobs/{id}", tag = "jobs", operation_id = "show_job",
    params(("id" = i64, Path)), responses((status = 200, body = Job)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Job> {
    Ok(axum::Json(jobs::show(state.context(), id).await?))
}

/// The log of a job, the oldest line first; `next` is for `after`
#[utoipa::path(get, path = "/api/v1/jobs/{id}/log", tag = "jobs", operation_id = "job_log",
    params(("id" = i64, Path), LogParameters), responses((status = 200, body = Listed<LogLine>)))]
pub(crate) async fn log(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<LogParameters>,
) -> Reply<Listed<LogLine>> {
    let (after, limit) = parameters.part();
    let lines = jobs::log(state.context(), id, after, limit).await?;
    Ok(axum::Json(lines))
}

/// Puts a harvest into the queue
#[utoipa::path(post, path = "/api/v1/jobs", tag = "jobs", operation_id = "add_job",
    request_body = HarvestBody, responses((status = 201, body = Job)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(body): Json<HarvestBody>,
) -> Result<(StatusCode, axum::Json<Job>), Problem> {
    let (patch, mistakes) = read_fields(body.parameters.unwrap_or_default());
    Refusal::unless_empty(mistakes)?;
    let new = NewHarvest {
        repository: body.repository,
        metadata_prefix: body.metadata_prefix.unwrap_or_default(),
        set: body.set,
        patch,
        run_at: body.run_at,
    };
    let job = jobs::harvest(state.context(), &who.actor(), &new).await?;
    Ok((StatusCode::CREATED, axum::Json(job)))
}

/// Withdraws a job that waits, or asks one that runs to stop; what it has so far is kept
#[utoipa::path(post, path = "/api/v1/jobs/{id}/cancel", tag = "jobs", operation_id = "cancel_job",
    params(("id" = i64, Path)), responses((status = 200, body = CancelledJob)))]
pub(crate) async fn cancel(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<CancelledJob> {
    let cancelled = jobs::cancel(state.context(), &who.actor(), id).await?;
    Ok(axum::Json(cancelled))
}

/// Retries a job that failed or was cancelled
#[utoipa::path(post, path = "/api/v1/jobs/{id}/retry", tag = "jobs", operation_id = "retry_job",
    params(("id" = i64, Path)), responses((status = 200, body = Job)))]
pub(crate) async fn retry(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Job> {
    let job = jobs::retry(state.context(), &who.actor(), id).await?;
    Ok(axum::Json(job))
}

/// Words with commas between them.
fn several<T>(
    parameter: &'static str,
    words: Option<&str>,
    parse: fn(&str) -> Option<T>,
) -> Result<Vec<T>, Refusal> {
    let words = words.unwrap_or_default().split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    let unknown = |word| Refusal::invalid(parameter, format!("there is no `{word}`"));
    words
        .map(|word| parse(word).ok_or_else(|| unknown(word)))
        .collect()
}
