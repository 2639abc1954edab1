//! `GET /history`: all harvests, or those that are looked for.

use askama::Template;
use axum::extract::State;
use catalog::HistoryEntry;

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::history::{HistoryFilter, retention};
use crate::parts::{Errors, Link, Pager};
use crate::problem::Answer;
use crate::repository_choices::repository_choices;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "history.html")]
struct History {
    who: Who,
    filter: HistoryFilter,
    repositories: Vec<(String, String)>,
    rows: Vec<HistoryEntry>,
    pager: Pager,
    csv: Link,
    retention: String,
    errors: Errors,
}

impl History {
    /// What the repository of a row is called.
    fn repository<'a>(&'a self, row: &'a HistoryEntry) -> &'a str {
        let id = row.repository.to_string();
        let known = self.repositories.iter().find(|(number, _)| *number == id);
        known.map_or(row.base_url.as_str(), |(_, name)| name.as_str())
    }
}

/// The states, to choose from.
pub(crate) const STATES: [(&str, &str); 5] = [
    ("", "all"),
    ("ok", "ok"),
    ("incomplete", "incomplete"),
    ("failed", "failed"),
    ("running", "running"),
];

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<HistoryFilter>,
) -> Answer {
    let (query, errors) = filter.query(PAGE + 1);
    let mut rows = match errors.is_empty() {
        true => state.catalog().history(&query).await?,
        false => Vec::new(),
    };
    let is_more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let next = rows.last().filter(|_| is_more).map(|row| row.id);
    page(&History {
        who,
        repositories: repository_choices(&state, "all").await?,
        pager: Pager::by_position(&filter.link("/history"), query.before, next),
        csv: filter.link("/history.csv"),
        retention: retention(state.config().retention),
        rows,
        filter,
        errors,
    })
}

const PAGE: u64 = 50;
