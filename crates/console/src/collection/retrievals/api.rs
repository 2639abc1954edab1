//! `/api/v1/retrievals`: documents copied into one file by a job.

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use operations::jobs::Job;
use operations::retrieve::{self, RetrievalOrder, SavedRetrieval, Selected, Selection};

use crate::api::{Listed, Reply, nothing};
use crate::extract::{Json, Path};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::stream;
use crate::who::{Operator, Viewer};

/// Puts a retrieval into the queue
///
/// The file can be downloaded when its job is finished, and is kept as long as its job.
#[utoipa::path(post, path = "/api/v1/retrievals", tag = "retrievals", operation_id = "add_retrieval",
    request_body = RetrievalOrder, responses((status = 201, body = Job)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(order): Json<RetrievalOrder>,
) -> Result<(StatusCode, axum::Json<Job>), Problem> {
    let job = retrieve::queue(state.context(), &who.actor(), order).await?;
    Ok((StatusCode::CREATED, axum::Json(job)))
}

/// Counts the documents of a selection, up to 10,000
#[utoipa::path(post, path = "/api/v1/retrievals/count", tag = "retrievals", operation_id = "count_retrieval",
    request_body = Selection, responses((status = 200, body = Selected)))]
pub(crate) async fn count(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Json(selection): Json<Selection>,
) -> Reply<Selected> {
    Ok(axum::Json(
        retrieve::count(state.context(), &selection).await?,
    ))
}

/// The file that a job retrieved; `id` is the number of the job
#[utoipa::path(get, path = "/api/v1/retrievals/{id}/file", tag = "retrievals", operation_id = "download_retrieval",
    params(("id" = i64, Path)), responses((status = 200, content_type = "*/*", body = String)))]
pub(crate) async fn file(
    who: Viewer,
    state: State<ConsoleState>,
    id: Path<i64>,
) -> Result<Response, Problem> {
    download(who, state, id).await
}

/// `GET /jobs/{id}/file`
pub(crate) async fn download(
    Viewer(_): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let file = retrieve::file(state.context(), id).await?;
    let turn = state.turn_to_download().await?;
    let (name, media_type) = (file.name(), file.media_type());
    let reader = state.blocking(move |_| file.open()).await??;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CONTENT_LENGTH, reader.length().into());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    // The name is made of a number.
    let name = format!("attachment; filename=\"{name}\"");
    let name = HeaderValue::from_str(&name);
    let otherwise = HeaderValue::from_static("attachment");
    headers.insert(CONTENT_DISPOSITION, name.unwrap_or(otherwise));
    Ok((headers, stream::of(reader, turn)).into_response())
}

/// Retrievals that are kept under a name
#[utoipa::path(get, path = "/api/v1/retrievals/saved", tag = "retrievals", operation_id = "list_saved_retrievals",
    responses((status = 200, body = Listed<SavedRetrieval>)))]
pub(crate) async fn saved_all(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Listed<SavedRetrieval>> {
    Ok(axum::Json(retrieve::saved_all(state.context()).await?))
}

/// A retrieval that is kept under a name
#[utoipa::path(get, path = "/api/v1/retrievals/saved/{name}", tag = "retrievals", operation_id = "show_saved_retrieval",
    params(("name" = String, Path)), responses((status = 200, body = SavedRetrieval)))]
pub(crate) async fn saved(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(name): Path<String>,
) -> Reply<SavedRetrieval> {
    Ok(axum::Json(retrieve::saved(state.context(), &name).await?))
}

/// Keeps a retrieval under a name, instead of another of that name
#[utoipa::path(put, path = "/api/v1/retrievals/saved/{name}", tag = "retrievals", operation_id = "save_retrieval",
    params(("name" = String, Path)), request_body = RetrievalOrder, responses((status = 200, body = SavedRetrieval)))]
pub(crate) async fn save(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(name): Path<String>,
    Json(order): Json<RetrievalOrder>,
) -> Reply<SavedRetrieval> {
    let saved = retrieve::save(state.context(), &who.actor(), &name, &order).await?;
    Ok(axum::Json(saved))
}

/// Forgets a retrieval that is kept under a name; files that were retrieved stay
#[utoipa::path(delete, path = "/api/v1/retrievals/saved/{name}", tag = "retrievals",
    operation_id = "remove_saved_retrieval", params(("name" = String, Path)), responses((status = 204)))]
pub(crate) async fn remove_saved(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    retrieve::remove_saved(state.context(), &who.actor(), &name).await?;
    Ok(nothing())
}
