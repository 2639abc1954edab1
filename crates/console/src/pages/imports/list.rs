//! `GET /imports`: imports, the newest first.

use askama::Template;
use axum::extract::State;
use catalog::{ImportEntry, ImportQuery, ImportState};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::imports::{Refusal, refusal};
use crate::parts::{Errors, Link, Pager};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filter {
    state: String,
    before: String,
}

#[derive(Template)]
#[template(path = "imports.html")]
struct Imports {
    who: Who,
    filter: Filter,
    rows: Vec<ImportEntry>,
    pager: Pager,
    may_import: bool,
    errors: Errors,
}

impl Imports {
    /// What was read, in a few words.
    fn what(&self, import: &ImportEntry) -> String {
        match &import.sources[..] {
            [] => "–".to_owned(),
            [source] => source.source.clone(),
            [source, others @ ..] => format!("{} and {} more", source.source, others.len()),
        }
    }
}

/// How they stand, to choose from.
pub(crate) const STATES: [(&str, &str); 5] = [
    ("", "all"),
    ("running", "running"),
    ("ok", "ok"),
    ("incomplete", "incomplete"),
    ("failed", "failed"),
];

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<Filter>,
) -> Answer {
    let query = ImportQuery {
        state: ImportState::ALL
            .into_iter()
            .find(|state| state.name() == filter.state),
        before: filter.before.parse().ok(),
        limit: PAGE + 1,
        ..ImportQuery::default()
    };
    let mut rows = state.catalog().imports(&query).await?;
    let is_more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let next = rows.last().filter(|_| is_more).map(|row| row.id);
    let link = Link::to("/imports").with("state", &filter.state);
    page(&Imports {
        // Who may, but for the configuration, is told so by the form.
        may_import: refusal(&state, &who) != Some(Refusal::NotAllowed),
        who,
        pager: Pager::by_position(&link, query.before, next),
        rows,
        filter,
        errors: Errors::default(),
    })
}

const PAGE: u64 = 50;
