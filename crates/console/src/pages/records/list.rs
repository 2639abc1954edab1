//! `GET /records`: the records that are held, or those that are looked for.

use askama::Template;
use axum::extract::State;
use catalog::{RecordEntry, Set};

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Errors, Pager};
use crate::problem::{Answer, Problem};
use crate::records::RecordFilter;
use crate::repository_choices::repository_choices;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "records.html")]
struct Records {
    who: Who,
    filter: RecordFilter,
    repositories: Vec<(String, String)>,
    /// The formats and sets of the chosen repository, as proposals.
    formats: Vec<String>,
    sets: Vec<Set>,
    rows: Vec<RecordEntry>,
    /// How many there are; more than are counted if that many.
    total: u64,
    pager: Pager,
    errors: Errors,
}

impl Records {
    fn repository(&self, row: &RecordEntry) -> &str {
        let id = row.repository.to_string();
        let known = self.repositories.iter().find(|(number, _)| *number == id);
        known.map_or("", |(_, name)| name.as_str())
    }

    fn is_more(&self) -> bool {
        self.total >= MOST_COUNTED
    }
}

/// Which of them, to choose from.
pub(crate) const DELETED: [(&str, &str); 3] = [
    ("", "with deleted ones"),
    ("no", "without deleted ones"),
    ("yes", "only deleted ones"),
];

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(filter): Query<RecordFilter>,
) -> Answer {
    let (query, errors) = filter.query(PAGE + 1);
    let catalog = state.catalog();
    let (mut rows, mut total) = (Vec::new(), 0);
    if errors.is_empty() {
        rows = catalog.records(&query).await?;
        total = catalog.count_records(&query, MOST_COUNTED).await?;
    }
    let is_more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let next = rows.last().filter(|_| is_more).map(|row| row.id);
    let (formats, sets) = proposals(&state, query.repository).await?;
    page(&Records {
        who,
        repositories: repository_choices(&state, "all").await?,
        formats,
        sets,
        pager: Pager::by_position(&filter.link(), query.before, next),
        rows,
        total,
        filter,
        errors,
    })
}

async fn proposals(
    state: &ConsoleState,
    repository: Option<i64>,
) -> Result<(Vec<String>, Vec<Set>), Problem> {
    let Some(id) = repository else {
        return Ok((vec!["oai_dc".to_owned()], Vec::new()));
    };
    let formats = state.catalog().format_counts(id).await?;
    let sets = state.catalog().some_sets(id, None, MOST_SETS).await?;
    let formats = formats.into_iter().map(|format| format.metadata_prefix);
    Ok((formats.collect(), sets))
}

const PAGE: u64 = 50;
const MOST_COUNTED: u64 = 1000;
const MOST_SETS: u64 = 1000;
