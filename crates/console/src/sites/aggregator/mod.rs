//! `GET /aggregator`: what the aggregator exposes, to whom, and in which formats. `GET /api/v1/aggregator`.

pub(crate) mod api;

use askama::Template;
use axum::extract::State;
use operations::aggregator::{self, Aggregator};

use crate::filters;
use crate::state::ConsoleState;
use crate::web::dress::page;
use crate::web::problem::Answer;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "aggregator.html")]
struct AggregatorPage {
    who: Who,
    aggregator: Aggregator,
}

pub(crate) async fn show(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    let aggregator = aggregator::show(state.context()).await?;
    page(&AggregatorPage { who, aggregator })
}
