//! `GET /imports`: imports, the newest first.

use askama::Template;
use axum::extract::State;
use operations::Code;
use operations::imports::{Import, ImportFilter, ImportState};
use serde::Deserialize;

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
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
    rows: Vec<Import>,
    pager: Pager,
    may_import: bool,
    errors: Errors,
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
    let query = ImportFilter {
        state: ImportState::parse(&filter.state),
        before: filter.before.parse().ok(),
        limit: Some(PAGE),
        ..ImportFilter::default()
    };
    let imports = operations::imports::list(state.context(), &query).await?;
    let link = Link::to("/imports").with("state", &filter.state);
    let rules = &state.context().settings().imports;
    let refusal = rules.require(&who.actor()).err();
    page(&Imports {
        // The form tells those whom only the configuration keeps from it.
        may_import: refusal.is_none_or(|refusal| refusal.code != Code::Forbidden),
        who,
        pager: Pager::by_position(&link, query.before, imports.next),
        rows: imports.items,
        filter,
        errors: Errors::default(),
    })
}

const PAGE: u64 = 50;
