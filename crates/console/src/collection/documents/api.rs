//! `/api/v1/documents`: the documents of the collection.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use operations::documents::{
    self, CleanDocuments, CleanPreview, Correction, Document, DocumentFilter, DocumentPart,
    DocumentSearch, Facets, Found, NearDuplicate, NewStates, Restoration, Restored, StatesChanged,
    Takedown, TakenDown, TrashFilter, TrashedDocument,
};
use operations::jobs::Job;

use super::file::{Asked, answer};
use crate::api::{Listed, Reply};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// Documents, in the order of their numbers; `next` is for `after`
#[utoipa::path(get, path = "/api/v1/documents", tag = "documents", operation_id = "list_documents",
    params(DocumentFilter), responses((status = 200, body = Listed<Document>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<DocumentFilter>,
) -> Reply<Listed<Document>> {
    let documents = documents::list(state.context(), &filter).await?;
    Ok(axum::Json(documents))
}

/// A document, and where its file is
#[utoipa::path(get, path = "/api/v1/documents/{id}", tag = "documents", operation_id = "show_document",
    params(("id" = i64, Path)), responses((status = 200, body = Document)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Document> {
    Ok(axum::Json(documents::show(state.context(), id).await?))
}

/// Documents with the words of a query, the best first; `next` is for `offset`
///
/// A query that cannot be understood is refused with the place of the mistake.
#[utoipa::path(get, path = "/api/v1/documents/search", tag = "documents", operation_id = "search_documents",
    params(DocumentSearch), responses((status = 200, body = Found)))]
pub(crate) async fn search(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(search): Query<DocumentSearch>,
) -> Reply<Found> {
    let filter = DocumentFilter::default();
    let found = documents::search(state.context(), &search, &filter).await?;
    Ok(axum::Json(found))
}

/// How the documents that a filter leaves are spread over hosts, types, kinds, years, decisions, states and languages
#[utoipa::path(get, path = "/api/v1/documents/facets", tag = "documents", operation_id = "show_document_facets",
    params(DocumentFilter), responses((status = 200, body = Facets)))]
pub(crate) async fn facets(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<DocumentFilter>,
) -> Reply<Facets> {
    let facets = documents::facets(state.context(), None, &filter).await?;
    Ok(axum::Json(facets))
}

/// The documents whose texts say nearly the same as that of a document
#[utoipa::path(get, path = "/api/v1/documents/{id}/near-duplicates", tag = "documents",
    operation_id = "list_near_duplicates", params(("id" = i64, Path)),
    responses((status = 200, body = Listed<NearDuplicate>)))]
pub(crate) async fn near_duplicates(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Listed<NearDuplicate>> {
    let near = documents::near_duplicates(state.context(), id).await?;
    Ok(axum::Json(near))
}

/// The file of a document
///
/// It has the media type that garner decided on, and its SHA-256 as its entity tag. The status is 410 if the file is
/// missing or cut off.
#[utoipa::path(get, path = "/api/v1/documents/{id}/file", tag = "documents", operation_id = "download_document",
    params(("id" = i64, Path)), responses(
        (status = 200, content_type = "*/*", body = String),
        (status = 304, description = "the client has it already"),
    ))]
pub(crate) async fn file(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    asked: Asked,
) -> Result<Response, Problem> {
    answer(&state, asked, DocumentPart::Document).await
}

/// The text of a document, if it is stored
#[utoipa::path(get, path = "/api/v1/documents/{id}/text", tag = "documents", operation_id = "download_document_text",
    params(("id" = i64, Path)), responses(
        (status = 200, content_type = "text/plain", body = String),
        (status = 304, description = "the client has it already"),
    ))]
pub(crate) async fn text(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    asked: Asked,
) -> Result<Response, Problem> {
    answer(&state, asked, DocumentPart::Text).await
}

/// Sets the state of documents in the search engine that ingests them
#[utoipa::path(post, path = "/api/v1/documents/state", tag = "documents", operation_id = "set_document_state",
    request_body = NewStates, responses((status = 200, body = StatesChanged)))]
pub(crate) async fn set_state(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(new): Json<NewStates>,
) -> Reply<StatesChanged> {
    let changed = documents::set_state(state.context(), &who.actor(), &new).await?;
    Ok(axum::Json(changed))
}

/// Corrects the decision or the kind of a document
#[utoipa::path(post, path = "/api/v1/documents/{id}/correction", tag = "documents", operation_id = "correct_document",
    params(("id" = i64, Path)), request_body = Correction, responses((status = 200, body = Document)))]
pub(crate) async fn correct(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(correction): Json<Correction>,
) -> Reply<Document> {
    let document = documents::correct(state.context(), &who.actor(), id, &correction).await?;
    Ok(axum::Json(document))
}

/// Takes a document down
///
/// It leaves the collection, and imports skip its URL and its bytes until it is restored. Its files go to the trash.
#[utoipa::path(post, path = "/api/v1/documents/{id}/removal", tag = "documents", operation_id = "remove_document",
    params(("id" = i64, Path)), request_body = Takedown, responses((status = 200, body = TakenDown)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(takedown): Json<Takedown>,
) -> Reply<TakenDown> {
    let taken = documents::remove(state.context(), &who.actor(), id, &takedown).await?;
    Ok(axum::Json(taken))
}

/// Removed documents, in the order of their numbers; `next` is for `after`
#[utoipa::path(get, path = "/api/v1/trash", tag = "documents", operation_id = "list_removed_documents",
    params(TrashFilter), responses((status = 200, body = Listed<TrashedDocument>)))]
pub(crate) async fn trash(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<TrashFilter>,
) -> Reply<Listed<TrashedDocument>> {
    Ok(axum::Json(
        documents::trash(state.context(), &filter).await?,
    ))
}

/// Restores removed documents, and ends their takedowns
#[utoipa::path(post, path = "/api/v1/trash/restore", tag = "documents", operation_id = "restore_documents",
    request_body = Restoration, responses((status = 200, body = Restored)))]
pub(crate) async fn restore(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(restoration): Json<Restoration>,
) -> Reply<Restored> {
    let restored = documents::restore(state.context(), &who.actor(), &restoration).await?;
    Ok(axum::Json(restored))
}

/// The documents that a cleaning would remove: their number and a sample
///
/// A cleaning removes documents that failed to be ingested and whose host, or the beginning of whose URL, is in a
/// blacklist.
#[utoipa::path(post, path = "/api/v1/documents/clean/preview", tag = "documents", operation_id = "preview_cleaning",
    request_body = CleanDocuments, responses((status = 200, body = CleanPreview)))]
pub(crate) async fn preview_clean(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Json(order): Json<CleanDocuments>,
) -> Reply<CleanPreview> {
    Ok(axum::Json(
        documents::preview(state.context(), &order).await?,
    ))
}

/// Puts a cleaning into the queue
#[utoipa::path(post, path = "/api/v1/documents/clean", tag = "documents", operation_id = "clean_documents",
    request_body = CleanDocuments, responses((status = 202, body = Job)))]
pub(crate) async fn clean(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(order): Json<CleanDocuments>,
) -> Result<(StatusCode, axum::Json<Job>), Problem> {
    let job = documents::queue_clean(state.context(), &who.actor(), &order).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(job)))
}
