//! `/api/v1/jobs`: what waits, runs, and is over.

use axum::extract::State;
use axum::http::StatusCode;
use catalog::{Cancelled, Job, JobKind, JobQuery, JobState, LogLevel, LogLine, NewJob};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::harvest_parameters::Parameters as ParametersSchema;
use super::{Listed, Reply, Time, limited};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::queue;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// What a job does.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindName {
    /// Harvests a repository.
    Harvest,
    /// Tells others that a harvest ended.
    Hook,
    /// Imports a crawl.
    Import,
    /// Judges the documents of the collection again.
    Classify,
    /// Keeps harvests away from a repository.
    Quiet,
}

/// How a job stands.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobStateName {
    /// It waits for its time, or for a worker.
    Scheduled,
    /// A worker has it.
    Running,
    /// It came to its end.
    Finished,
    /// It did not, and is not tried again.
    Failed,
    /// Somebody withdrew or stopped it.
    Cancelled,
}

/// Which jobs are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Parameters {
    /// Those that stand so: `running`, or several as `running,scheduled`.
    state: Option<String>,
    /// Those that do this: `harvest`, `hook`, `import`, `quiet`, or several.
    kind: Option<String>,
    /// Those about one repository.
    repository: Option<i64>,
    /// Those of one schedule.
    schedule: Option<i64>,
    /// Those with a smaller number, for the next page. Those that wait are on the first one only.
    before: Option<i64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// Which lines of a log are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogParameters {
    /// Those behind the line with this number.
    after: Option<i64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// A harvest to be put into the queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHarvest {
    /// The number of the repository.
    repository: i64,
    /// The format; `oai_dc` if none is given.
    metadata_prefix: Option<String>,
    /// The set, or all.
    set: Option<String>,
    /// Everything else: `full`, `from`, `until`, `method` and so on, as schedules have it.
    #[schema(value_type = Option<ParametersSchema>)]
    parameters: Option<Value>,
    /// When it is due; at once if that is not said.
    run_at: Option<Time>,
}

/// A job.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobJson {
    id: i64,
    kind: KindName,
    state: JobStateName,
    repository: Option<i64>,
    base_url: Option<String>,
    repository_name: Option<String>,
    schedule: Option<i64>,
    /// Empty if it is not about a format.
    metadata_prefix: String,
    set: Option<String>,
    #[schema(value_type = Object)]
    parameters: Value,
    run_at: Time,
    /// How often it was begun.
    attempt: i64,
    max_attempts: i64,
    /// The worker that has it, or had it last.
    worker: Option<String>,
    /// Whether it was asked to stop.
    cancel_requested: bool,
    /// Records so far for a harvest, bytes for an import.
    done: u64,
    /// Records or bytes in all, if that is known.
    total: Option<u64>,
    /// What is being done.
    note: Option<String>,
    /// Why it failed, the last time.
    error: Option<String>,
    created: Time,
    created_by: Option<String>,
    started: Option<Time>,
    finished: Option<Time>,
    /// The number of its entry in the history.
    harvest: Option<i64>,
    /// The number of the import that it does.
    import: Option<i64>,
}

/// A line of a log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogJson {
    id: i64,
    at: Time,
    /// `info`, `warning` or `error`.
    level: &'static str,
    message: String,
}

/// What came of cancelling a job.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancelledJson {
    /// Whether it runs and was asked to stop; otherwise it is cancelled already.
    asked: bool,
    job: JobJson,
}

/// Jobs: those that run, then those that wait by their times, then the others, the newest first
#[utoipa::path(get, path = "/api/v1/jobs", tag = "jobs", operation_id = "list_jobs",
    params(Parameters), responses((status = 200, body = Listed<JobJson>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Reply<Listed<JobJson>> {
    let limit = limited(parameters.limit);
    let query = JobQuery {
        states: several("state", parameters.state.as_deref(), JobState::parse)?,
        kinds: several("kind", parameters.kind.as_deref(), JobKind::parse)?,
        repository: parameters.repository,
        schedule: parameters.schedule,
        before: parameters.before,
        limit: limit + 1,
    };
    let jobs = state.catalog().jobs(&query).await?;
    Ok(axum::Json(Listed::page(jobs, limit, |job| job.id)))
}

/// A job
#[utoipa::path(get, path = "/api/v1/jobs/{id}", tag = "jobs", operation_id = "show_job",
    params(("id" = i64, Path)), responses((status = 200, body = JobJson)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<JobJson> {
    Ok(axum::Json(queue::job(&state, id).await?.into()))
}

/// The log of a job, the oldest line first; `next` is for `after`
#[utoipa::path(get, path = "/api/v1/jobs/{id}/log", tag = "jobs", operation_id = "job_log",
    params(("id" = i64, Path), LogParameters), responses((status = 200, body = Listed<LogJson>)))]
pub(crate) async fn log(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<LogParameters>,
) -> Reply<Listed<LogJson>> {
    queue::job(&state, id).await?;
    let limit = limited(parameters.limit);
    let after = parameters.after.unwrap_or(0);
    let lines = state.catalog().job_log(id, after, limit + 1).await?;
    Ok(axum::Json(Listed::page(lines, limit, |line| line.id)))
}

/// Puts a harvest into the queue
#[utoipa::path(post, path = "/api/v1/jobs", tag = "jobs", operation_id = "add_job",
    request_body = NewHarvest, responses((status = 201, body = JobJson)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(wanted): Json<NewHarvest>,
) -> Result<(StatusCode, axum::Json<JobJson>), Problem> {
    let parameters = wanted.parameters.unwrap_or_else(|| serde_json::json!({}));
    let new = NewJob {
        set: wanted.set.filter(|set| !set.is_empty()),
        parameters: parameters.to_string(),
        run_at: wanted.run_at.map(|time| time.0),
        ..NewJob::harvest(
            wanted.repository,
            wanted.metadata_prefix.unwrap_or_default(),
        )
    };
    let job = queue::add_harvest(&state, &who, new).await?;
    Ok((StatusCode::CREATED, axum::Json(job.into())))
}

/// Withdraws a job that waits, or asks one that runs to stop; what it has so far is kept
#[utoipa::path(post, path = "/api/v1/jobs/{id}/cancel", tag = "jobs", operation_id = "cancel_job",
    params(("id" = i64, Path)), responses((status = 200, body = CancelledJson)))]
pub(crate) async fn cancel(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<CancelledJson> {
    let cancelled = queue::cancel(&state, &who, id).await?;
    let job = queue::job(&state, id).await?.into();
    let asked = cancelled == Cancelled::Asked;
    Ok(axum::Json(CancelledJson { asked, job }))
}

/// Puts a job that failed or was cancelled into the queue again
#[utoipa::path(post, path = "/api/v1/jobs/{id}/retry", tag = "jobs", operation_id = "retry_job",
    params(("id" = i64, Path)), responses((status = 200, body = JobJson)))]
pub(crate) async fn retry(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<JobJson> {
    Ok(axum::Json(queue::retry(&state, &who, id).await?.into()))
}

/// Words with commas between them.
fn several<T>(
    parameter: &str,
    words: Option<&str>,
    parse: fn(&str) -> Option<T>,
) -> Result<Vec<T>, Problem> {
    let words = words.unwrap_or_default().split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    let unknown = |word| Problem::invalid(format!("{parameter}: there is no `{word}`"));
    words
        .map(|word| parse(word).ok_or_else(|| unknown(word)))
        .collect()
}

impl From<Job> for JobJson {
    fn from(job: Job) -> Self {
        Self {
            id: job.id,
            kind: match job.kind {
                JobKind::Harvest => KindName::Harvest,
                JobKind::Hook => KindName::Hook,
                JobKind::Import => KindName::Import,
                JobKind::Classify => KindName::Classify,
                JobKind::Quiet => KindName::Quiet,
            },
            state: match job.state {
                JobState::Scheduled => JobStateName::Scheduled,
                JobState::Running => JobStateName::Running,
                JobState::Finished => JobStateName::Finished,
                JobState::Failed => JobStateName::Failed,
                JobState::Cancelled => JobStateName::Cancelled,
            },
            repository: job.repository,
            base_url: job.base_url,
            repository_name: job.repository_name,
            schedule: job.schedule,
            metadata_prefix: job.metadata_prefix,
            set: job.set,
            parameters: serde_json::from_str(&job.parameters).unwrap_or_default(),
            run_at: Time(job.run_at),
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            worker: job.worker,
            cancel_requested: job.cancel_requested,
            done: job.progress.done,
            total: job.progress.total,
            note: job.progress.note,
            error: job.error,
            created: Time(job.created),
            created_by: job.created_by,
            started: job.started.map(Time),
            finished: job.finished.map(Time),
            harvest: job.harvest,
            import: job.import,
        }
    }
}

impl From<LogLine> for LogJson {
    fn from(line: LogLine) -> Self {
        Self {
            id: line.id,
            at: Time(line.at),
            level: LogLevel::name(line.level),
            message: line.message,
        }
    }
}
