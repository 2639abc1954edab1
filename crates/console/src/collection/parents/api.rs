//! `/api/v1/parents` and `/api/v1/whitelist`: the pages that link to documents, and the best of them.

use std::io::Read as _;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use operations::jobs::Job;
use operations::parents::{self, CleanParents, Parent, ParentFilter};
use operations::whitelist::{self, CitationsKept, NewCitations, Seed, Whitelist, WhitelistOrder};

use crate::api::{Listed, Reply};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// Parents, in the order of their numbers; `next` is for `after`
#[utoipa::path(get, path = "/api/v1/parents", tag = "parents", operation_id = "list_parents",
    params(ParentFilter), responses((status = 200, body = Listed<Parent>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<ParentFilter>,
) -> Reply<Listed<Parent>> {
    Ok(axum::Json(parents::list(state.context(), &filter).await?))
}

/// A parent
#[utoipa::path(get, path = "/api/v1/parents/{id}", tag = "parents", operation_id = "show_parent",
    params(("id" = i64, Path)), responses((status = 200, body = Parent)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Parent> {
    Ok(axum::Json(parents::show(state.context(), id).await?))
}

/// Puts a cleaning of the parents into the queue
///
/// It writes the parents that are worth another crawl: those whose host is not blacklisted, that have documents, and
/// whose links, if they are checked, are not dead.
#[utoipa::path(post, path = "/api/v1/parents/clean", tag = "parents", operation_id = "clean_parents",
    request_body = CleanParents, responses((status = 202, body = Job)))]
pub(crate) async fn clean(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(order): Json<CleanParents>,
) -> Result<(StatusCode, axum::Json<Job>), Problem> {
    let job = parents::queue_clean(state.context(), &who.actor(), &order).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(job)))
}

/// The list that the last cleaning of the parents wrote, as CSV
#[utoipa::path(get, path = "/api/v1/parents/revised.csv", tag = "parents", operation_id = "download_revised_parents",
    responses((status = 200, content_type = "text/csv", body = String)))]
pub(crate) async fn revised(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Result<Response, Problem> {
    let mut list = parents::revised(state.context()).await?;
    let read = move || {
        let mut bytes = Vec::new();
        list.read_to_end(&mut bytes).map(|_| bytes)
    };
    let read = tokio::task::spawn_blocking(read).await;
    let bytes = read.map_err(anyhow::Error::from).and_then(|read| Ok(read?));
    let bytes = bytes.map_err(operations::Refusal::from)?;
    Ok(attached("text/csv; charset=utf-8", parents::REVISED, bytes))
}

/// The best parents or hosts by their ingested documents and citations, at most 10000
#[utoipa::path(get, path = "/api/v1/whitelist", tag = "parents", operation_id = "make_whitelist",
    params(WhitelistOrder), responses((status = 200, body = Listed<Seed>)))]
pub(crate) async fn make(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(order): Query<WhitelistOrder>,
) -> Reply<Listed<Seed>> {
    let limit = order.limit.unwrap_or(MOST_SEEDS).min(MOST_SEEDS);
    let seeds = made(
        &state,
        WhitelistOrder {
            limit: Some(limit),
            ..order
        },
    )
    .await?;
    Ok(axum::Json(Listed::all(seeds.seeds().collect())))
}

/// Keeps how often documents are cited, for whitelists
#[utoipa::path(post, path = "/api/v1/citations", tag = "parents", operation_id = "keep_citations",
    request_body = NewCitations, responses((status = 200, body = CitationsKept)))]
pub(crate) async fn cite(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(new): Json<NewCitations>,
) -> Reply<CitationsKept> {
    let kept = whitelist::keep_citations(state.context(), &who.actor(), &new).await?;
    Ok(axum::Json(kept))
}

/// Makes a whitelist on a thread of its own.
pub(crate) async fn made(
    state: &ConsoleState,
    order: WhitelistOrder,
) -> Result<Whitelist, Problem> {
    let context = state.context().clone();
    let making = move || whitelist::make(&context, &order, None, None);
    let made = tokio::task::spawn_blocking(making).await;
    let made = made.map_err(anyhow::Error::from).and_then(|made| made);
    Ok(made.map_err(operations::Refusal::from)?)
}

/// A file to be saved.
pub(crate) fn attached(media_type: &'static str, name: &str, bytes: Vec<u8>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (CONTENT_TYPE, media_type.to_owned()),
        (CONTENT_DISPOSITION, disposition),
    ];
    (headers, bytes).into_response()
}

const MOST_SEEDS: u64 = 10_000;
