//! `GET /documents`: the documents of the collection, filtered.

use askama::Template;
use axum::extract::State;
use operations::documents::{self, Document, DocumentFilter};

use super::filter::DocumentForm;
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
    filter: DocumentForm,
    rows: Vec<Document>,
    pager: Pager,
    errors: Errors,
}

/// The states, to choose from.
pub(crate) const STATES: [(&str, &str); 5] = [
    ("", "all"),
    ("not_ingested", "not ingested"),
    ("ingested", "ingested"),
    ("failed", "failed"),
    ("set_aside", "set aside"),
];

/// The decisions, to choose from.
pub(crate) const DECISIONS: [(&str, &str); 4] = [
    ("", "all"),
    ("accept", "accept"),
    ("unsure", "unsure"),
    ("reject", "reject"),
];

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<DocumentForm>,
) -> Answer {
    let (parsed, errors) = filter.parse();
    let (after, limit) = (parsed.after.unwrap_or(0), Some(PAGE));
    let (rows, next) = match errors.is_empty() {
        true => {
            let parsed = DocumentFilter { limit, ..parsed };
            let page = documents::list(state.context(), &parsed).await?;
            (page.items, page.next)
        }
        false => (Vec::new(), None),
    };
    page(&Documents {
        who,
        pager: Pager::by_number(&filter.link(), after, next),
        rows,
        filter,
        errors,
    })
}

const PAGE: u64 = 50;
