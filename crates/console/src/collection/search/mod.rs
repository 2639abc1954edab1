//! `GET /search`: one search over repositories, records and documents, and the same for programs.

use askama::Template;
use axum::extract::State;
use operations::search::{self, Hits, SearchQuery};
use serde::Deserialize;

use crate::api::Reply;
use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::Link;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    #[serde(default)]
    text: String,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    who: Who,
    text: String,
    /// `None` before anything is searched for.
    hits: Option<Hits>,
}

impl SearchPage {
    /// The list at `path` with the same search.
    fn list(&self, path: &str) -> Link {
        Link::to(path).with("text", &self.text)
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(Parameters { text }): Query<Parameters>,
) -> Answer {
    let text = text.trim().to_owned();
    let query = SearchQuery { text, limit: None };
    let hits = match query.text.is_empty() {
        true => None,
        false => Some(search::everywhere(state.context(), &query).await?),
    };
    page(&SearchPage {
        who,
        hits,
        text: query.text,
    })
}

/// Searches repositories, records and documents
#[utoipa::path(get, path = "/api/v1/search", tag = "search", operation_id = "search",
    params(SearchQuery), responses((status = 200, body = Hits)))]
pub(crate) async fn everywhere(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(query): Query<SearchQuery>,
) -> Reply<Hits> {
    let hits = search::everywhere(state.context(), &query).await?;
    Ok(axum::Json(hits))
}
