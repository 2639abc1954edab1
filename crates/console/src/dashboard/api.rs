//! `/api/v1/overview` and `/api/v1/statistics`: figures on everything that is held, and on harvests over time.

use axum::extract::State;
use operations::alerts::{self, FiringAlert};
use operations::overview::{self, Overview};
use operations::statistics::{
    self, Activity, ActivityFilter, CollectionFilter, CollectionStatistics, Statistics,
};

use crate::api::{Listed, Reply};
use crate::extract::Query;
use crate::state::ConsoleState;
use crate::who::Viewer;

/// Shows what needs attention, runs and comes up, and how much there is
#[utoipa::path(get, path = "/api/v1/overview", tag = "statistics", operation_id = "overview",
    responses((status = 200, body = Overview)))]
pub(crate) async fn overview(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Overview> {
    Ok(axum::Json(overview::show(state.context()).await?))
}

/// Alerts that hold now, by the rules of the configuration file
#[utoipa::path(get, path = "/api/v1/alerts", tag = "statistics", operation_id = "alerts",
    responses((status = 200, body = Listed<FiringAlert>)))]
pub(crate) async fn alerts(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Listed<FiringAlert>> {
    let firing = alerts::firing(state.context()).await?;
    Ok(axum::Json(Listed::all(firing)))
}

/// Figures on everything that is held, and the health of repositories
#[utoipa::path(get, path = "/api/v1/statistics", tag = "statistics", operation_id = "statistics",
    responses((status = 200, body = Statistics)))]
pub(crate) async fn totals(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Statistics> {
    Ok(axum::Json(statistics::totals(state.context()).await?))
}

/// Figures on the documents of the collection, or on those of one import
///
/// Those of the whole collection are taken anew some minutes after it changed; `computed` tells when.
#[utoipa::path(get, path = "/api/v1/statistics/collection", tag = "statistics",
    operation_id = "collection_statistics", params(CollectionFilter),
    responses((status = 200, body = CollectionStatistics)))]
pub(crate) async fn collection(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<CollectionFilter>,
) -> Reply<CollectionStatistics> {
    let figures = statistics::collection(state.context(), &filter).await?;
    Ok(axum::Json(figures))
}

/// Harvests over time, in steps; of more than 2000 steps the last ones
#[utoipa::path(get, path = "/api/v1/statistics/activity", tag = "statistics", operation_id = "activity",
    params(ActivityFilter), responses((status = 200, body = Listed<Activity>)))]
pub(crate) async fn activity(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<ActivityFilter>,
) -> Reply<Listed<Activity>> {
    let activity = statistics::activity(state.context(), &filter).await?;
    Ok(axum::Json(activity))
}
