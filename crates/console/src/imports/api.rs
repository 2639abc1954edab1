//! `/api/v1/imports`: imports and their warnings.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use operations::harvests::{RemoveOld, Removed, WarningFilter};
use operations::imports::{self, Import, ImportFilter, ImportWarning};
use operations::jobs::{self, Job};
use operations::{ImportPatch, Refusal, read_fields};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::api::{Listed, Reply, Time, nothing};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// An import to be put into the queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewImport {
    /// Settings of the import; those that are not given are as they are configured.
    #[schema(value_type = ImportPatch)]
    import: Map<String, Value>,
    /// When it is due; at once if that is not said.
    run_at: Option<Time>,
}

/// Imports, the newest first
#[utoipa::path(get, path = "/api/v1/imports", tag = "imports", operation_id = "list_imports",
    params(ImportFilter), responses((status = 200, body = Listed<Import>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<ImportFilter>,
) -> Reply<Listed<Import>> {
    let imports = imports::list(state.context(), &filter).await?;
    Ok(axum::Json(imports))
}

/// Puts an import into the queue
///
/// Admins name any file that workers see, operators what lies in the directories of `import.roots`.
#[utoipa::path(post, path = "/api/v1/imports", tag = "imports", operation_id = "add_import",
    request_body = NewImport, responses((status = 201, body = Job)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(wanted): Json<NewImport>,
) -> Result<(StatusCode, axum::Json<Job>), Problem> {
    let (patch, mistakes) = read_fields(wanted.import);
    Refusal::unless_empty(mistakes)?;
    let job = jobs::import(state.context(), &who.actor(), &patch, wanted.run_at).await?;
    Ok((StatusCode::CREATED, axum::Json(job)))
}

/// An import
#[utoipa::path(get, path = "/api/v1/imports/{id}", tag = "imports", operation_id = "show_import",
    params(("id" = i64, Path)), responses((status = 200, body = Import)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Import> {
    let import = imports::show(state.context(), id).await?;
    Ok(axum::Json(import))
}

/// The captures that an import skipped or repaired; its report has all captures
#[utoipa::path(get, path = "/api/v1/imports/{id}/skipped", tag = "imports", operation_id = "import_skipped",
    params(("id" = i64, Path), WarningFilter), responses((status = 200, body = Listed<ImportWarning>)))]
pub(crate) async fn skipped(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(filter): Query<WarningFilter>,
) -> Reply<Listed<ImportWarning>> {
    let warnings = imports::warnings(state.context(), id, &filter).await?;
    Ok(axum::Json(warnings))
}

/// Removes an import that is not running from the history, with its report; documents stay
#[utoipa::path(delete, path = "/api/v1/imports/{id}", tag = "imports", operation_id = "remove_import",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    imports::remove(state.context(), &who.actor(), &[id]).await?;
    Ok(nothing())
}

/// Removes old imports from the history, except those that can be resumed and the last of each schedule
#[utoipa::path(post, path = "/api/v1/imports/remove", tag = "imports", operation_id = "remove_old_imports",
    request_body = RemoveOld, responses((status = 200, body = Removed)))]
pub(crate) async fn remove_old(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(old): Json<RemoveOld>,
) -> Reply<Removed> {
    let days = old.older_than_days;
    let removed = imports::remove_old(state.context(), &who.actor(), days).await?;
    Ok(axum::Json(removed))
}
