//! `GET /records/{id}`: one record to read: by its elements if it is in oai_dc, and by its structure in any case.

use askama::Template;
use axum::extract::State;
use operations::records::{self, Element, Record, RecordText, Validation, dublin_core};

use super::tree::{Line, tree};
use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::filters::sized;
use crate::problem::{Answer, Problem};
use crate::repositories::choices::called;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "record.html")]
struct RecordPage {
    who: Who,
    record: Record,
    repository_name: String,
    title: String,
    /// The sets with their names.
    sets: Vec<(String, Option<String>)>,
    /// Whether the harvest that brought it is still in the history.
    harvest_known: bool,
    content: Content,
}

/// The file, as far as it can be shown.
#[derive(Default)]
struct Content {
    elements: Option<Vec<Element>>,
    lines: Vec<Line>,
    /// Why the file is not shown.
    note: Option<String>,
}

impl RecordPage {
    fn validation(&self) -> &'static str {
        match self.record.validation {
            Validation::Ok => "as it was sent",
            Validation::Repaired => "repaired, because it was not well-formed",
            Validation::Skipped => "skipped",
            Validation::Filtered => "rejected by the filter, and held from before",
        }
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let context = state.context();
    let record = records::show(context, id).await?;
    let content = match &record.path {
        Some(_) => {
            let file = records::xml(context, id).await?;
            state.blocking(move |_| content(file.read())).await?
        }
        None => Content::default(),
    };
    let harvest = state.catalog().history_entry(record.changed_by).await?;
    let repository = state.catalog().repository(record.repository).await?;
    let repository_name = repository.as_ref().map(called);
    let title = record.title.as_ref().unwrap_or(&record.identifier);
    page(&RecordPage {
        who,
        repository_name: repository_name.unwrap_or_else(|| record.base_url.clone()),
        title: title.clone(),
        sets: sets(&state, &record).await?,
        harvest_known: harvest.is_some(),
        content,
        record,
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
    record: &Record,
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

/// The names of this many sets are looked up.
const MOST_NAMED: usize = 50;
