//! `/api/v1/records`: the records that are held.

use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use operations::records::{self, ExportFormat, IdentifierQuery, Record, RecordFilter};

use crate::api::{Listed, Reply};
use crate::extract::{Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::stream;
use crate::who::Viewer;

/// Records, the newest first; with `after` the oldest first
#[utoipa::path(get, path = "/api/v1/records", tag = "records", operation_id = "list_records",
    params(RecordFilter), responses((status = 200, body = Listed<Record>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<RecordFilter>,
) -> Reply<Listed<Record>> {
    let records = records::list(state.context(), &filter).await?;
    Ok(axum::Json(records))
}

/// All records of a query as one stream
///
/// A record whose file cannot be read is there with its header alone.
#[utoipa::path(get, path = "/api/v1/records/export/{format}", tag = "records", operation_id = "export_records",
    params(("format" = inline(ExportFormat), Path), RecordFilter),
    responses((status = 200, content_type = "*/*", body = String)))]
pub(crate) async fn export(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(format): Path<ExportFormat>,
    Query(filter): Query<RecordFilter>,
) -> Result<Response, Problem> {
    let turn = state.turn_to_download().await?;
    let records = records::export(state.context(), filter, format);
    let name = format!("attachment; filename=\"records.{}\"", format.extension());
    let headers = [
        (CONTENT_TYPE, format.media_type().to_owned()),
        (CONTENT_DISPOSITION, name),
    ];
    Ok((headers, stream::of(records, turn)).into_response())
}

/// The XML of the one record with an identifier
#[utoipa::path(get, path = "/api/v1/records/cat", tag = "records", operation_id = "cat_record",
    params(IdentifierQuery),
    responses((status = 200, content_type = "application/xml", body = String)))]
pub(crate) async fn cat(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(query): Query<IdentifierQuery>,
) -> Result<Response, Problem> {
    let record = records::find(state.context(), &query).await?;
    super::xml::attachment(&state, record.id).await
}

/// A record, and where its file is
#[utoipa::path(get, path = "/api/v1/records/{id}", tag = "records", operation_id = "show_record",
    params(("id" = i64, Path)), responses((status = 200, body = Record)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Record> {
    Ok(axum::Json(records::show(state.context(), id).await?))
}

/// The file of a record
#[utoipa::path(get, path = "/api/v1/records/{id}/xml", tag = "records", operation_id = "download_record",
    params(("id" = i64, Path)), responses((status = 200, content_type = "application/xml", body = String)))]
pub(crate) async fn xml(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    super::xml::attachment(&state, id).await
}
