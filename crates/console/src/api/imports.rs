//! `/api/v1/imports`: imports, what they counted and what they skipped.

use axum::extract::State;
use axum::http::StatusCode;
use catalog::{ImportEntry, ImportQuery, ImportState, ImportWarning, SourcePosition};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::import_parameters::ImportParameters;
use super::jobs::JobJson;
use super::{Listed, Reply, Time, limited};
use crate::extract::{Json, Path, Query};
use crate::imports::{self, WARNINGS_AT_ONCE, import};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// How an import stands.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ImportStateName {
    /// It has begun and not ended, or its process was killed.
    Running,
    /// All of its sources were read.
    Ok,
    /// It came to its end, but something had to be left out.
    Incomplete,
    /// It did not come to its end, and can be gone on with.
    Failed,
    /// Somebody ended it before its end.
    Cancelled,
}

/// Which imports are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Those that stand so.
    state: Option<ImportStateName>,
    /// Those of one job.
    job: Option<i64>,
    /// Those of one schedule.
    schedule: Option<i64>,
    /// Those that began then or later.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
    /// Those that began then or earlier.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Time>,
    /// Those with this text in their reason.
    text: Option<String>,
    /// Those with a smaller number, for the next page.
    before: Option<i64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// An import to be put into the queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewImport {
    /// What is imported, and how.
    import: ImportParameters,
    /// When it is due; at once if that is not said.
    run_at: Option<Time>,
}

/// An import.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportJson {
    id: i64,
    job: Option<i64>,
    schedule: Option<i64>,
    state: ImportStateName,
    worker: String,
    started: Time,
    ended: Option<Time>,
    /// How often it was begun: more than once if it was gone on with.
    attempts: i64,
    /// What was counted, by the names of the Crawl Document Importer and ours.
    counters: Value,
    /// Why it failed or what was left out.
    reason: Option<String>,
    /// What it was begun with.
    parameters: Value,
    sources: Vec<SourceJson>,
}

/// How far a source was read.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SourceJson {
    source: String,
    /// In bytes.
    position: u64,
    done: bool,
}

/// Something that was skipped.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SkippedJson {
    file: String,
    offset: Option<u64>,
    reason: String,
}

/// Imports, the newest first
#[utoipa::path(get, path = "/api/v1/imports", tag = "imports", operation_id = "list_imports",
    params(Wanted), responses((status = 200, body = Listed<ImportJson>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Reply<Listed<ImportJson>> {
    let limit = limited(wanted.limit);
    let found = state.catalog().imports(&wanted.query(limit + 1)).await?;
    Ok(axum::Json(Listed::page(found, limit, |entry| entry.id)))
}

/// Puts an import into the queue
///
/// Admins name any file that workers see, operators what lies in the directories of `import.roots`.
#[utoipa::path(post, path = "/api/v1/imports", tag = "imports", operation_id = "add_import",
    request_body = NewImport, responses((status = 201, body = JobJson)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(wanted): Json<NewImport>,
) -> Result<(StatusCode, axum::Json<JobJson>), Problem> {
    let order = wanted.import.permitted(&state, &who, None).await?;
    let run_at = wanted.run_at.map(|time| time.0);
    let job = imports::add(&state, &who, &order, run_at).await?;
    Ok((StatusCode::CREATED, axum::Json(job.into())))
}

/// An import
#[utoipa::path(get, path = "/api/v1/imports/{id}", tag = "imports", operation_id = "show_import",
    params(("id" = i64, Path)), responses((status = 200, body = ImportJson)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<ImportJson> {
    Ok(axum::Json(import(&state, id).await?.into()))
}

/// What an import skipped, at most the first thousand; its report has all
#[utoipa::path(get, path = "/api/v1/imports/{id}/skipped", tag = "imports", operation_id = "import_skipped",
    params(("id" = i64, Path)), responses((status = 200, body = Listed<SkippedJson>)))]
pub(crate) async fn skipped(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Listed<SkippedJson>> {
    import(&state, id).await?;
    let skipped = state.catalog().import_warnings(id, 0, WARNINGS_AT_ONCE);
    let skipped = skipped.await?.into_iter().map(|(_, warning)| warning);
    Ok(axum::Json(Listed::all(skipped.collect())))
}

impl Wanted {
    fn query(self, limit: u64) -> ImportQuery {
        ImportQuery {
            state: self.state.map(Into::into),
            job: self.job,
            schedule: self.schedule,
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            text: self.text,
            before: self.before,
            limit,
        }
    }
}

impl From<ImportStateName> for ImportState {
    fn from(name: ImportStateName) -> Self {
        match name {
            ImportStateName::Running => Self::Running,
            ImportStateName::Ok => Self::Ok,
            ImportStateName::Incomplete => Self::Incomplete,
            ImportStateName::Failed => Self::Failed,
            ImportStateName::Cancelled => Self::Cancelled,
        }
    }
}

impl From<ImportState> for ImportStateName {
    fn from(state: ImportState) -> Self {
        match state {
            ImportState::Running => Self::Running,
            ImportState::Ok => Self::Ok,
            ImportState::Incomplete => Self::Incomplete,
            ImportState::Failed => Self::Failed,
            ImportState::Cancelled => Self::Cancelled,
        }
    }
}

impl From<ImportEntry> for ImportJson {
    fn from(entry: ImportEntry) -> Self {
        Self {
            id: entry.id,
            job: entry.job,
            schedule: entry.schedule,
            state: entry.state.into(),
            worker: entry.worker,
            started: Time(entry.started),
            ended: entry.ended.map(Time),
            attempts: entry.attempts,
            counters: serde_json::to_value(entry.counters).unwrap_or_default(),
            reason: entry.reason,
            parameters: serde_json::from_str(&entry.parameters).unwrap_or_default(),
            sources: entry.sources.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<SourcePosition> for SourceJson {
    fn from(source: SourcePosition) -> Self {
        Self {
            source: source.source,
            position: source.position,
            done: source.done,
        }
    }
}

impl From<ImportWarning> for SkippedJson {
    fn from(warning: ImportWarning) -> Self {
        Self {
            file: warning.file,
            offset: warning.offset,
            reason: warning.reason,
        }
    }
}
