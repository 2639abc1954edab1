//! `GET /documents`: the documents of the collection, or those that are looked for.

use askama::Template;
use axum::extract::State;
use catalog::DocumentEntry;

use crate::documents::DocumentFilter;
use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Errors, Pager};
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "documents.html")]
struct Documents {
    who: Who,
    filter: DocumentFilter,
    rows: Vec<DocumentEntry>,
    pager: Pager,
    errors: Errors,
}

/// How they stand, to choose from.
pub(crate) const STATES: [(&str, &str); 5] = [
    ("", "all"),
    ("not_ingested", "not ingested"),
    ("ingested", "ingested"),
    ("failed", "failed"),
    ("set_aside", "set aside"),
];

/// How they were decided on, to choose from.
pub(crate) const DECISIONS: [(&str, &str); 4] = [
    ("", "all"),
    ("accept", "accept"),
    ("unsure", "unsure"),
    ("reject", "reject"),
];

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<DocumentFilter>,
) -> Answer {
    let (query, errors) = filter.query(PAGE + 1);
    let mut rows = match errors.is_empty() {
        true => state.catalog().documents(&query).await?,
        false => Vec::new(),
    };
    let is_more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let next = rows.last().filter(|_| is_more).map(|row| row.id);
    page(&Documents {
        who,
        pager: Pager::by_number(&filter.link(), query.after, next),
        rows,
        filter,
        errors,
    })
}

const PAGE: u64 = 50;
