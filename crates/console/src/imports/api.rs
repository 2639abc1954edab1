//! `/api/v1/imports`: imports and their warnings.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use operations::harvests::{RemoveOld, Removed, WarningFilter};
use operations::imports::{
    self, Import, ImportFilter, ImportTemplate, ImportTrial, ImportWarning, SourceDirectory,
};
use operations::jobs::{self, Job};
use operations::{ImportPatch, Refusal, read_fields};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::api::{Listed, Reply, Time, nothing};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::stream;
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

/// An import whose first captures are tried.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TriedImport {
    /// Settings of the import; those that are not given are as they are configured.
    #[schema(value_type = ImportPatch)]
    import: Map<String, Value>,
    /// How many captures are read, at most 10000; the default is 100.
    captures: Option<u64>,
}

/// A directory of files that may be imported.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Directory {
    /// The directory; without it, those of `import.roots` are listed.
    path: Option<String>,
}

/// Tells what would become of the first captures of an import
///
/// Nothing is written. The counts are those of an import into an empty collection.
#[utoipa::path(post, path = "/api/v1/imports/dry-run", tag = "imports", operation_id = "try_import",
    request_body = TriedImport, responses((status = 200, body = ImportTrial)))]
pub(crate) async fn dry_run(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(wanted): Json<TriedImport>,
) -> Reply<ImportTrial> {
    let (patch, mistakes) = read_fields(wanted.import);
    Refusal::unless_empty(mistakes)?;
    let (context, actor) = (state.context(), who.actor());
    let trial = imports::try_first(context, &actor, &patch, wanted.captures).await?;
    Ok(axum::Json(trial))
}

/// Files of this machine that may be imported, in one directory below `import.roots`
#[utoipa::path(get, path = "/api/v1/imports/sources", tag = "imports", operation_id = "browse_import_sources",
    params(Directory), responses((status = 200, body = SourceDirectory)))]
pub(crate) async fn sources(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Query(directory): Query<Directory>,
) -> Reply<SourceDirectory> {
    let path = directory.path.as_deref();
    let found = imports::browse(state.context(), &who.actor(), path).await?;
    Ok(axum::Json(found))
}

/// Templates of imports: settings that are kept under a name
#[utoipa::path(get, path = "/api/v1/imports/templates", tag = "imports", operation_id = "list_import_templates",
    responses((status = 200, body = Listed<ImportTemplate>)))]
pub(crate) async fn templates(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Listed<ImportTemplate>> {
    Ok(axum::Json(imports::templates(state.context()).await?))
}

/// A template of imports
#[utoipa::path(get, path = "/api/v1/imports/templates/{name}", tag = "imports", operation_id = "show_import_template",
    params(("name" = String, Path)), responses((status = 200, body = ImportTemplate)))]
pub(crate) async fn template(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(name): Path<String>,
) -> Reply<ImportTemplate> {
    Ok(axum::Json(imports::template(state.context(), &name).await?))
}

/// Keeps settings of imports under a name, instead of others of that name
#[utoipa::path(put, path = "/api/v1/imports/templates/{name}", tag = "imports", operation_id = "save_import_template",
    params(("name" = String, Path)), request_body = ImportPatch, responses((status = 200, body = ImportTemplate)))]
pub(crate) async fn save_template(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(name): Path<String>,
    Json(import): Json<Map<String, Value>>,
) -> Reply<ImportTemplate> {
    let (context, actor) = (state.context(), who.actor());
    let saved = imports::save_template(context, &actor, &name, &import).await?;
    Ok(axum::Json(saved))
}

/// Forgets a template of imports
#[utoipa::path(delete, path = "/api/v1/imports/templates/{name}", tag = "imports",
    operation_id = "remove_import_template", params(("name" = String, Path)), responses((status = 204)))]
pub(crate) async fn remove_template(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    imports::remove_template(state.context(), &who.actor(), &name).await?;
    Ok(nothing())
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

/// The report of an import that has ended: a line of JSON for each capture that was skipped or repaired
#[utoipa::path(get, path = "/api/v1/imports/{id}/report", tag = "imports", operation_id = "download_import_report",
    params(("id" = i64, Path)), responses((status = 200, content_type = "application/jsonl", body = String)))]
pub(crate) async fn report(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    let turn = state.turn_to_download().await?;
    let report = imports::report(state.context(), id).await?;
    let body = stream::of(report, turn);
    Ok(([(CONTENT_TYPE, "application/jsonl")], body).into_response())
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
