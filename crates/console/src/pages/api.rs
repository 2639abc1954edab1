//! `GET /api`: the operations of the API, to read. `GET /api/v1/openapi.json`: for programs.

use askama::Template;
use axum::Json;
use axum::extract::State;
use serde_json::Value;

use crate::api::Described;
use crate::dress::page;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "api.html")]
struct ApiPage {
    who: Who,
    operations: Vec<Described>,
}

pub(crate) async fn show(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    let operations = state.operations().to_vec();
    page(&ApiPage { who, operations })
}

/// Programs that are made from the description need no account; there is nothing in it but what the source says.
pub(crate) async fn description(State(state): State<ConsoleState>) -> Result<Json<Value>, Problem> {
    Ok(Json(state.openapi().clone()))
}
