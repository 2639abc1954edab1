//! `/api/v1/history`: harvests and their warnings.

use axum::extract::State;
use axum::response::Response;
use operations::harvests::{
    self, Comparison, Harvest, HarvestFilter, RemoveOld, Removed, Warning, WarningFilter,
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::{Listed, Reply, nothing};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// Which harvests are compared.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Pair {
    /// The number of one.
    one: i64,
    /// The number of the other.
    other: i64,
}

/// How a harvest is removed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Removal {
    /// Even if the next harvest continues from it; everything is harvested again then.
    #[serde(default)]
    force: bool,
}

/// Harvests, the newest first
#[utoipa::path(get, path = "/api/v1/history", tag = "history", operation_id = "list_history",
    params(HarvestFilter), responses((status = 200, body = Listed<Harvest>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<HarvestFilter>,
) -> Reply<Listed<Harvest>> {
    let harvests = harvests::list(state.context(), &filter).await?;
    Ok(axum::Json(harvests))
}

/// Harvests as CSV, all of them whatever `before` and `limit` say
#[utoipa::path(get, path = "/api/v1/history.csv", tag = "history", operation_id = "download_history",
    params(HarvestFilter), responses((status = 200, content_type = "text/csv", body = String)))]
pub(crate) async fn csv(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<HarvestFilter>,
) -> Result<Response, Problem> {
    Ok(super::csv::csv(&state, filter))
}

/// A harvest
#[utoipa::path(get, path = "/api/v1/history/{id}", tag = "history", operation_id = "show_harvest",
    params(("id" = i64, Path)), responses((status = 200, body = Harvest)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Harvest> {
    Ok(axum::Json(harvests::show(state.context(), id).await?))
}

/// The records that a harvest skipped or repaired, or could not obtain
#[utoipa::path(get, path = "/api/v1/history/{id}/warnings", tag = "history", operation_id = "list_warnings",
    params(("id" = i64, Path), WarningFilter), responses((status = 200, body = Listed<Warning>)))]
pub(crate) async fn warnings(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(filter): Query<WarningFilter>,
) -> Reply<Listed<Warning>> {
    let warnings = harvests::warnings(state.context(), id, &filter).await?;
    Ok(axum::Json(warnings))
}

/// Two harvests side by side
#[utoipa::path(get, path = "/api/v1/history/compare", tag = "history", operation_id = "compare_harvests",
    params(Pair), responses((status = 200, body = Comparison)))]
pub(crate) async fn compare(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(pair): Query<Pair>,
) -> Reply<Comparison> {
    let comparison = harvests::compare(state.context(), pair.one, pair.other).await?;
    Ok(axum::Json(comparison))
}

/// Removes a harvest that is not running from the history; records stay
#[utoipa::path(delete, path = "/api/v1/history/{id}", tag = "history", operation_id = "remove_harvest",
    params(("id" = i64, Path), Removal), responses((status = 204)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(removal): Query<Removal>,
) -> Result<Response, Problem> {
    harvests::remove(state.context(), &who.actor(), &[id], removal.force).await?;
    Ok(nothing())
}

/// Removes old harvests from the history, except those that the next harvests continue from
#[utoipa::path(post, path = "/api/v1/history/remove", tag = "history", operation_id = "remove_old_history",
    request_body = RemoveOld, responses((status = 200, body = Removed)))]
pub(crate) async fn remove_old(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(old): Json<RemoveOld>,
) -> Reply<Removed> {
    let days = old.older_than_days;
    let removed = harvests::remove_old(state.context(), &who.actor(), days).await?;
    Ok(axum::Json(removed))
}
