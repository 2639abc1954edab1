//! `/api/v1/overview` and `/api/v1/statistics`: figures on everything that is held, and on harvests over time.

use axum::extract::State;
use operations::overview::{self, Overview};
use operations::statistics::{self, Activity, ActivityFilter, Statistics};

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

/// Figures on everything that is held, and the health of repositories
#[utoipa::path(get, path = "/api/v1/statistics", tag = "statistics", operation_id = "statistics",
    responses((status = 200, body = Statistics)))]
pub(crate) async fn totals(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Statistics> {
    Ok(axum::Json(statistics::totals(state.context()).await?))
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
