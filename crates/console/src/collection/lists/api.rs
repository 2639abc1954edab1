//! `/api/v1/lists`: blacklists and whitelists.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, StatusCode};
use operations::lists::{
    self, CompareQuery, ListPatch, ListsQuery, NewList, UrlList, UrlListComparison,
};

use crate::api::{Listed, Reply};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// Blacklists and whitelists, without their texts
#[utoipa::path(get, path = "/api/v1/lists", tag = "lists", operation_id = "list_lists",
    params(ListsQuery), responses((status = 200, body = Listed<UrlList>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(query): Query<ListsQuery>,
) -> Reply<Listed<UrlList>> {
    let lists = lists::list(state.context(), query).await?;
    Ok(axum::Json(Listed::all(lists)))
}

/// Adds a list
#[utoipa::path(post, path = "/api/v1/lists", tag = "lists", operation_id = "add_list",
    request_body = NewList, responses((status = 201, body = UrlList)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(new): Json<NewList>,
) -> Result<(StatusCode, axum::Json<UrlList>), Problem> {
    let list = lists::add(state.context(), &who.actor(), &new).await?;
    Ok((StatusCode::CREATED, axum::Json(list)))
}

/// A list, without its text
#[utoipa::path(get, path = "/api/v1/lists/{id}", tag = "lists", operation_id = "show_list",
    params(("id" = i64, Path)), responses((status = 200, body = UrlList)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<UrlList> {
    Ok(axum::Json(lists::show(state.context(), id).await?))
}

/// The text of a list
#[utoipa::path(get, path = "/api/v1/lists/{id}/text", tag = "lists", operation_id = "download_list",
    params(("id" = i64, Path)), responses((status = 200, content_type = "text/plain", body = String)))]
pub(crate) async fn text(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<([(HeaderName, &'static str); 1], String), Problem> {
    let text = lists::text(state.context(), id).await?;
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text))
}

/// Changes a list
#[utoipa::path(patch, path = "/api/v1/lists/{id}", tag = "lists", operation_id = "change_list",
    params(("id" = i64, Path)), request_body = ListPatch, responses((status = 200, body = UrlList)))]
pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(patch): Json<ListPatch>,
) -> Reply<UrlList> {
    let list = lists::change(state.context(), &who.actor(), id, &patch).await?;
    Ok(axum::Json(list))
}

/// Removes a list
#[utoipa::path(delete, path = "/api/v1/lists/{id}", tag = "lists", operation_id = "remove_list",
    params(("id" = i64, Path)), responses((status = 200, body = UrlList)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<UrlList> {
    let list = lists::remove(state.context(), &who.actor(), id).await?;
    Ok(axum::Json(list))
}

/// Compares two lists
#[utoipa::path(get, path = "/api/v1/lists/{id}/comparison", tag = "lists", operation_id = "compare_lists",
    params(("id" = i64, Path), CompareQuery), responses((status = 200, body = UrlListComparison)))]
pub(crate) async fn compare(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(query): Query<CompareQuery>,
) -> Reply<UrlListComparison> {
    let compared = lists::compare(state.context(), id, query.with, MOST_NAMED).await?;
    Ok(axum::Json(compared))
}

const MOST_NAMED: usize = 1000;
