//! `GET /records/{id}`: one record to read: by its elements if it is in oai_dc, and by its structure in any case.

use askama::Template;
use axum::extract::State;
use catalog::{RecordEntry, Repository, Validation};

use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::filters::sized;
use crate::problem::{Answer, Problem};
use crate::records::{Element, Line, RecordFile, RecordText, dublin_core, record, tree};
use crate::repository_choices::called;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "record.html")]
struct RecordPage {
    who: Who,
    record: RecordEntry,
    repository: Repository,
    repository_name: String,
    title: String,
    /// The sets with what they are called.
    sets: Vec<(String, Option<String>)>,
    /// Whether the harvest that brought it is still in the history.
    harvest_known: bool,
    file: Option<String>,
    content: Content,
}

/// What can be shown of the file.
#[derive(Default)]
struct Content {
    elements: Option<Vec<Element>>,
    lines: Vec<Line>,
    /// Why there is nothing to be seen.
    note: Option<String>,
}

impl RecordPage {
    fn validation(&self) -> &'static str {
        match self.record.validation {
            Validation::Ok => "as it was sent",
            Validation::Repaired => "mended, for it was not well-formed",
            Validation::Skipped => "left out",
            Validation::Filtered => "rejected by the filter, and held from before",
        }
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let (record, repository) = record(&state, id).await?;
    let file = RecordFile::of(state.holdings(), &repository, &record);
    let shown = file.as_ref().map(|file| file.path().display().to_string());
    let content = match file {
        Some(file) => state.blocking(move |_| content(file.read())).await?,
        None => Content::default(),
    };
    let harvest = state.catalog().history_entry(record.changed_by).await?;
    page(&RecordPage {
        who,
        repository_name: called(&repository),
        title: record
            .title
            .clone()
            .unwrap_or_else(|| record.identifier.clone()),
        sets: sets(&state, &record).await?,
        harvest_known: harvest.is_some(),
        file: shown,
        content,
        record,
        repository,
    })
}

fn content(text: RecordText) -> Content {
    let note = match text {
        RecordText::Whole(bytes) => match tree(&bytes) {
            Ok(lines) => {
                return Content {
                    elements: dublin_core(&bytes).filter(|elements| !elements.is_empty()),
                    lines,
                    note: None,
                };
            }
            Err(error) => format!("The file cannot be read as XML: {error}."),
        },
        RecordText::TooLong(length) => format!(
            "The file has {}, which is too long to be shown; download it instead.",
            sized(length)
        ),
        RecordText::Unreadable(error) => {
            format!("The file cannot be read: {error}. A full harvest brings it back.")
        }
    };
    Content {
        note: Some(note),
        ..Content::default()
    }
}

async fn sets(
    state: &ConsoleState,
    record: &RecordEntry,
) -> Result<Vec<(String, Option<String>)>, Problem> {
    let mut sets = Vec::with_capacity(record.set_specs.len());
    for (at, spec) in record.set_specs.iter().enumerate() {
        let known = match at < MOST_NAMED {
            true => state.catalog().set(record.repository, spec).await?,
            false => None,
        };
        sets.push((spec.clone(), known.and_then(|set| set.name)));
    }
    Ok(sets)
}

/// Of so many sets the names are looked up.
const MOST_NAMED: usize = 50;
