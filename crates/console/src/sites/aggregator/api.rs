//! `/api/v1/aggregator`: what the aggregator exposes.

use axum::extract::State;
use operations::aggregator::{self, Aggregator};

use crate::api::Reply;
use crate::state::ConsoleState;
use crate::who::Viewer;

/// The exposure of the aggregator: records, documents, areas and formats
#[utoipa::path(get, path = "/api/v1/aggregator", tag = "aggregator", operation_id = "show_aggregator",
    responses((status = 200, body = Aggregator)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Aggregator> {
    Ok(axum::Json(aggregator::show(state.context()).await?))
}
