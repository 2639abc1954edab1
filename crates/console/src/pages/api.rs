//! `GET /api`: the operations of the API, to read. `GET /api/v1/openapi.json`: for programs.

use askama::Template;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::api::{Described, OPENAPI, described};
use crate::dress::page;
use crate::problem::Answer;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "api.html")]
struct ApiPage {
    who: Who,
    operations: &'static [Described],
}

pub(crate) async fn show(Viewer(who): Viewer) -> Answer {
    let operations = described();
    page(&ApiPage { who, operations })
}

/// Programs that are made from the description need no account; there is nothing in it but what the source says.
pub(crate) async fn description() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], OPENAPI)
}
