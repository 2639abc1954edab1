//! `/api/v1/records`: the records that are held.

use axum::extract::State;
use axum::response::Response;
use operations::records::{self, Record, RecordFilter};

use crate::api::{Listed, Reply};
use crate::extract::{Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
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
