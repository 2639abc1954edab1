//! `GET /records`: the items that are held, each with its formats, or those that are searched for.

use std::collections::HashMap;

use axum::extract::State;
use operations::records::{self, Record, RecordFilter};

use crate::extract::Query;
use crate::parts::Typed;
use crate::parts::table::{Around, Cell, Column, Filter, Filters, Table, View};
use crate::problem::{Answer, Problem};
use crate::repositories::choices::repository_choices;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let repositories = repository_choices(&state, "all").await?;
    let names: HashMap<_, _> = repositories.iter().cloned().collect();
    let filters = Filters::new(asked)
        .with(Filter::search("Search", "words, \"a phrase\", begin*"))
        .with(Filter::choice("repository", "Repository", repositories));
    let (formats, sets) = suggestions(&state, filters.number("repository")).await?;
    let mut filters = filters
        .with(Filter::suggested("prefix", "Format", formats))
        .with(Filter::suggested("set", "Set", sets))
        .with(Filter::date("since", "Changed since"))
        .with(Filter::date("until", "Changed until"))
        .with(Filter::choice("deleted", "Deleted", DELETED))
        .with_kept("harvest", |id| {
            format!("Only records that harvest {id} found to be new or changed.")
        });
    let filter = RecordFilter {
        text: filters.given("text"),
        repository: filters.number("repository"),
        metadata_prefix: filters.given("prefix"),
        set: filters.given("set"),
        since: filters.since("since"),
        until: filters.until("until"),
        deleted: match filters.get("deleted") {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        },
        harvest: filters.number("harvest"),
        items: Some(true),
        ..RecordFilter::default()
    };
    let around = Around {
        title: "Records",
        ..Around::default()
    };
    let table = table(filters, &who, names);
    let read = move |view: View| {
        let state = state.clone();
        let filter = RecordFilter {
            sort: view.sort,
            descending: view.descending,
            behind: view.page,
            limit: view.limit,
            count: view.count,
            ..filter.clone()
        };
        async move { records::list(state.context(), &filter).await }
    };
    table.answer(who, around, read).await
}

fn table(filters: Filters, who: &Who, names: HashMap<String, String>) -> Table<Record> {
    Table::new("/records", ["item", "items"], filters)
        .sorted_by("added", true)
        .by_row()
        .column(
            Column::new("title", "Record", title)
                .smallest_first()
                .row_heading()
                .breaking(),
        )
        .column(
            Column::new("repository", "Repository", move |row: &Record| {
                let name = names.get(&row.repository.to_string());
                let name = name.unwrap_or(&row.base_url);
                Cell::link(
                    format!("/repositories/{}", row.repository),
                    Cell::text(name),
                )
            })
            .breaking(),
        )
        .column(Column::new("formats", "Formats", formats))
        .column(
            Column::new("datestamp", "Datestamp", |row: &Record| {
                Cell::of(row.datestamp, |datestamp| Cell::Time(datestamp.0), "none")
            })
            .largest_first(),
        )
        .column(
            Column::new("added", "Harvested", |row: &Record| {
                Cell::Ago(row.harvested.0)
            })
            .largest_first(),
        )
        .column(Column::new("state", "State", |row: &Record| {
            match (row.deleted, row.is_held()) {
                (true, _) => Cell::badge("deleted"),
                (false, true) => Cell::text("current"),
                (false, false) => Cell::None("skipped"),
            }
        }))
        .fields(&FIELDS)
        .empty(
            "No records yet.",
            who.can_operate()
                .then_some(("Add schedule", "/schedules/new")),
        )
}

fn title(row: &Record) -> Cell {
    let link = |shown| Cell::link(format!("/records/{}", row.id), shown);
    match &row.title {
        Some(title) => {
            let identifier = Cell::note(Cell::code(&row.identifier));
            link(Cell::text(title)).above(Some(identifier))
        }
        None => link(Cell::text(&row.identifier)),
    }
}

fn formats(row: &Record) -> Cell {
    let formats = row.formats.iter().map(|format| {
        let link = format!("/records/{}", format.record);
        Cell::link(link, Cell::code(&format.metadata_prefix))
    });
    Cell::Row(formats.collect())
}

/// Values of filters, each with its words.
type Suggestions = Vec<(String, String)>;

/// The formats and the sets of a repository.
async fn suggestions(
    state: &ConsoleState,
    repository: Option<i64>,
) -> Result<(Suggestions, Suggestions), Problem> {
    let Some(id) = repository else {
        let usual = ("oai_dc".to_owned(), "Dublin Core".to_owned());
        return Ok((vec![usual], Vec::new()));
    };
    let formats = state.catalog().format_counts(id).await?;
    let formats = formats.into_iter().map(|format| {
        let words = format!("{} records", format.records);
        (format.metadata_prefix, words)
    });
    let sets = state.catalog().some_sets(id, None, MOST_SETS).await?;
    let sets = sets
        .into_iter()
        .map(|set| (set.set_spec, set.name.unwrap_or_default()));
    Ok((formats.collect(), sets.collect()))
}

/// Deleted ones and others, to choose from.
const DELETED: [(&str, &str); 3] = [
    ("", "with deleted ones"),
    ("no", "without deleted ones"),
    ("yes", "only deleted ones"),
];
const FIELDS: [&str; 11] = [
    "id",
    "repository",
    "base_url",
    "identifier",
    "title",
    "metadata_prefix",
    "datestamp",
    "deleted",
    "set_specs",
    "harvested",
    "file",
];
const MOST_SETS: u64 = 1000;
