//! `GET /records`: the records that are held, or those that are looked for.

use askama::Template;
use axum::extract::State;
use catalog::Set;
use operations::records::{self, Record, RecordFilter};

use super::filter::RecordForm;
use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Errors, Pager};
use crate::problem::{Answer, Problem};
use crate::repositories::choices::repository_choices;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "records.html")]
struct Records {
    who: Who,
    filter: RecordForm,
    repositories: Vec<(String, String)>,
    /// The formats and sets of the chosen repository, as proposals.
    formats: Vec<String>,
    sets: Vec<Set>,
    rows: Vec<Record>,
    /// How many there are; more than are counted if that many.
    total: u64,
    pager: Pager,
    errors: Errors,
}

impl Records {
    fn repository(&self, row: &Record) -> &str {
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
    Query(filter): Query<RecordForm>,
) -> Answer {
    let (parsed, errors) = filter.parse();
    let (before, repository) = (parsed.before, parsed.repository);
    let (mut rows, mut next, mut total) = (Vec::new(), None, 0);
    if errors.is_empty() {
        let limit = Some(PAGE);
        let parsed = RecordFilter { limit, ..parsed };
        total = records::count(state.context(), &parsed, MOST_COUNTED).await?;
        let page = records::list(state.context(), &parsed).await?;
        (rows, next) = (page.items, page.next);
    }
    let (formats, sets) = proposals(&state, repository).await?;
    page(&Records {
        who,
        repositories: repository_choices(&state, "all").await?,
        formats,
        sets,
        pager: Pager::by_position(&filter.link(), before, next),
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
