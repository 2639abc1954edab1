//! `GET /repositories`: all repositories, searched, filtered and sorted.

use axum::extract::State;
use catalog::{ScheduleQuery, ScheduleState};
use operations::repositories::{self, Repository, RepositoryQuery};
use operations::{Actor, Context, Paging, Refusal, schedules};

use crate::extract::{Form, Query};
use crate::parts::Typed;
use crate::parts::table::{
    Around, Bulk, BulkForm, Cell, Column, Filter, Filters, Table, View, bulk_done,
};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let filters = Filters::new(asked)
        .with(Filter::search("Name or base URL", ""))
        .with(Filter::choice("health", "Status", HEALTHS));
    let query = RepositoryQuery {
        text: filters.given("text"),
        // An address that somebody typed shows something, whatever its words are.
        health: filters
            .given("health")
            .filter(|word| repositories::parse_health(word).is_some()),
        ..RepositoryQuery::default()
    };
    let around = Around {
        title: "Repositories",
        actions: match who.can_operate() {
            true => vec![ADD],
            false => Vec::new(),
        },
        ..Around::default()
    };
    let table = table(filters, &who);
    let read = move |view: View| {
        let query = RepositoryQuery {
            sort: view.sort,
            descending: view.descending,
            offset: view.offset,
            limit: view.limit,
            ..query.clone()
        };
        let state = state.clone();
        async move { repositories::list(state.context(), &query).await }
    };
    table.answer(who, around, read).await
}

fn table(filters: Filters, who: &Who) -> Table<Repository> {
    let run = Bulk::post("/repositories/bulk", "run", "Harvest now");
    let bulk = if who.can_operate() {
        vec![run]
    } else {
        Vec::new()
    };
    Table::new("/repositories", WORDS, filters)
        .sorted_by("name", false)
        .column(
            Column::new("name", "Repository", name)
                .smallest_first()
                .row_heading()
                .breaking(),
        )
        .column(Column::new("health", "Status", health).smallest_first())
        .column(
            Column::new("records", "Records", |row: &Repository| {
                Cell::Number(row.records)
            })
            .number()
            .largest_first(),
        )
        .column(Column::new("last_harvest", "Last harvest", last_harvest).largest_first())
        .column(
            Column::new("next_run", "Next harvest", |row: &Repository| {
                Cell::of(row.next_run, |next| Cell::Ago(next.0), "not scheduled")
            })
            .smallest_first(),
        )
        .column(Column::new("schedules", "Schedules", schedules).number())
        .bulk(|row| row.id, bulk)
        .fields(&FIELDS)
        .empty("No repositories yet.", who.can_operate().then_some(ADD))
}

fn name(row: &Repository) -> Cell {
    let link = format!("/repositories/{}", row.id);
    let address = Cell::note(Cell::text(&row.base_url));
    Cell::link(link, Cell::text(row.title())).above(Some(address))
}

fn health(row: &Repository) -> Cell {
    let reason = row
        .last_harvest
        .as_ref()
        .and_then(|last| last.reason.clone());
    Cell::badge(row.health).above(reason.map(Cell::Failure))
}

fn last_harvest(row: &Repository) -> Cell {
    let link = |id| format!("/history/{id}");
    let last = row.last_harvest.as_ref();
    Cell::of(
        last,
        |last| Cell::link(link(last.id), Cell::Ago(last.started.0)),
        "never",
    )
}

fn schedules(row: &Repository) -> Cell {
    let link = format!("/schedules?repository={}", row.id);
    match row.schedules {
        0 => Cell::None("none"),
        number => Cell::link(link, Cell::Number(number)),
    }
}

/// `POST /repositories/bulk`: runs the schedules of repositories.
pub(crate) async fn bulk(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<BulkForm>,
) -> Answer {
    if form.action != "run" {
        return Err(Problem::invalid("choose what to do: run"));
    }
    let mut results = Vec::with_capacity(form.ids.len());
    for id in form.ids {
        results.push((id, run(state.context(), &who.actor(), id).await));
    }
    bulk_done("/repositories", WORDS, "queued for harvest", results)
}

/// Runs the schedules of a repository that are neither paused nor over.
async fn run(context: &Context, actor: &Actor, repository: i64) -> Result<(), Refusal> {
    let query = ScheduleQuery {
        repository: Some(repository),
        ..ScheduleQuery::default()
    };
    let listed = schedules::list(context, &query, &Paging::default()).await?;
    let is_over = |state| matches!(state, ScheduleState::Paused | ScheduleState::Ended);
    let mut active = listed
        .items
        .into_iter()
        .filter(|schedule| !is_over(schedule.state))
        .peekable();
    if active.peek().is_none() {
        return Err(Refusal::conflict("it has no active schedule"));
    }
    for schedule in active {
        schedules::run(context, actor, schedule.id).await?;
    }
    Ok(())
}

/// The states by the last harvest, to choose from.
const HEALTHS: [(&str, &str); 6] = [
    ("", "all"),
    ("ok", "ok"),
    ("running", "running"),
    ("incomplete", "incomplete"),
    ("failing", "failing"),
    ("never", "never harvested"),
];

const WORDS: [&str; 2] = ["repository", "repositories"];
const ADD: (&str, &str) = ("Add repository", "/repositories/new");

const FIELDS: [&str; 11] = [
    "id",
    "name",
    "base_url",
    "repository_identifier",
    "health",
    "records",
    "deleted",
    "last_harvest.started",
    "last_harvest.reason",
    "next_run",
    "schedules",
];
