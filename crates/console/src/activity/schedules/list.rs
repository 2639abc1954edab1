//! `GET /schedules`: all schedules, with their state, their next run and the result of the last one.

use std::collections::HashMap;

use axum::extract::State;
use catalog::{HistoryQuery, ImportQuery, ScheduleQuery, ScheduleState};
use operations::schedules::{self, Schedule, ScheduleKind};
use operations::{Listed, Refusal};
use serde::Serialize;

use crate::extract::{Form, Query};
use crate::parts::Typed;
use crate::parts::table::{
    Action, Around, Bulk, BulkForm, Cell, Column, Filter, Filters, Table, View, bulk_done,
};
use crate::problem::{Answer, Problem};
use crate::repositories::choices::{named, repository_choices};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    schedule: Schedule,
    #[serde(skip)]
    last: Option<LastRun>,
    /// Why its job has not begun although it is due.
    #[serde(skip)]
    overdue: Option<String>,
}

/// The result of the last run.
struct LastRun {
    link: String,
    state: &'static str,
    started: i64,
}

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let repositories = repository_choices(&state, "all").await?;
    let filters = Filters::new(asked)
        .with(Filter::search("Search", "name, address or path"))
        .with(Filter::choice("repository", "Repository", repositories))
        .with(Filter::choice("state", "State", STATES));
    let query = ScheduleQuery {
        repository: filters.number("repository"),
        state: ScheduleState::parse(filters.get("state")),
        text: filters.given("text"),
    };
    let mut actions = vec![("Filters and mappings", "/rules")];
    if who.can_operate() {
        actions.insert(0, ADD);
    }
    let around = Around {
        title: "Schedules",
        actions,
        ..Around::default()
    };
    let table = table(filters, &who);
    table
        .answer(who, around, move |view| {
            read(state.clone(), query.clone(), view)
        })
        .await
}

async fn read(
    state: ConsoleState,
    query: ScheduleQuery,
    view: View,
) -> Result<Listed<Row>, Refusal> {
    let listed = schedules::list(state.context(), &query, &view.paging()).await?;
    let now = state.catalog().now().await?;
    let jobs = listed.items.iter().filter_map(|schedule| {
        let is_due = schedule.next_run.is_some_and(|next| next.0 <= now);
        schedule.job.filter(|_| is_due)
    });
    let mut overdue = reasons(&state, jobs.collect()).await?;
    let mut items = Vec::with_capacity(listed.items.len());
    for schedule in listed.items {
        let last = last_run(&state, &schedule).await?;
        let overdue = schedule.job.and_then(|job| overdue.remove(&job));
        items.push(Row {
            schedule,
            last,
            overdue,
        });
    }
    Ok(Listed {
        items,
        next: listed.next,
        total: listed.total,
        ..Listed::none()
    })
}

/// Why jobs that are due have not begun.
pub(crate) async fn reasons(
    state: &ConsoleState,
    jobs: Vec<i64>,
) -> Result<HashMap<i64, String>, Refusal> {
    let mut rows = Vec::with_capacity(jobs.len());
    for job in jobs {
        rows.extend(state.catalog().job(job).await?);
    }
    let jobs = operations::jobs::explained(state.context(), rows).await?;
    let reasons = jobs
        .into_iter()
        .filter_map(|job| Some((job.id, job.why?.text)));
    Ok(reasons.collect())
}

async fn last_run(state: &ConsoleState, schedule: &Schedule) -> Result<Option<LastRun>, Refusal> {
    let catalog = state.catalog();
    if schedule.kind == ScheduleKind::Import {
        let query = ImportQuery {
            schedule: Some(schedule.id),
            limit: 1,
            ..ImportQuery::default()
        };
        let last = catalog.imports(&query).await?.pop();
        return Ok(last.map(|last| LastRun {
            link: format!("/imports/{}", last.id),
            state: last.state.name(),
            started: last.started,
        }));
    }
    let query = HistoryQuery {
        // The history can be found by repository.
        repository: schedule.repository,
        schedule: Some(schedule.id),
        limit: 1,
        ..HistoryQuery::default()
    };
    let last = catalog.history(&query).await?.pop();
    Ok(last.map(|last| LastRun {
        link: format!("/history/{}", last.id),
        state: last.state.name(),
        started: last.started,
    }))
}

fn table(filters: Filters, who: &Who) -> Table<Row> {
    let can_operate = who.can_operate();
    let mut bulk = Vec::new();
    if can_operate {
        bulk = BULK
            .map(|(action, label)| Bulk::post("/schedules/bulk", action, label))
            .to_vec();
    }
    Table::new("/schedules", WORDS, filters)
        .sorted_by("name", false)
        .column(
            Column::new("name", "Schedule", name)
                .smallest_first()
                .row_heading()
                .breaking(),
        )
        .column(Column::new("what", "What", what).breaking())
        .column(Column::new("frequency", "Frequency", |row: &Row| {
            Cell::text(&row.schedule.described)
        }))
        .column(
            Column::new("state", "State", |row: &Row| {
                Cell::badge(row.schedule.state.name())
            })
            .smallest_first(),
        )
        .column(Column::new("next_run", "Next run", next_run).smallest_first())
        .column(Column::new("last_run", "Last run", last).largest_first())
        .column_if(can_operate, || Column::new("actions", "Actions", actions))
        .bulk(|row| row.schedule.id, bulk)
        .fields(&FIELDS)
        .empty("No schedules yet.", can_operate.then_some(ADD))
}

fn name(row: &Row) -> Cell {
    let schedule = &row.schedule;
    let title = Cell::link(
        format!("/schedules/{}", schedule.id),
        Cell::text(schedule.title()),
    );
    let about = match (&schedule.base_url, schedule.repository) {
        (Some(base_url), Some(id)) => {
            let name = named(schedule.repository_name.as_deref(), base_url);
            Cell::link(format!("/repositories/{id}"), Cell::text(name))
        }
        _ => Cell::text(schedule.about()),
    };
    title.above(Some(Cell::note(about)))
}

fn what(row: &Row) -> Cell {
    let schedule = &row.schedule;
    if schedule.kind == ScheduleKind::Import {
        return Cell::text("import");
    }
    let set = schedule.set.as_ref();
    let set = set.map(|set| Cell::note(Cell::text(format!("set {set}"))));
    Cell::code(&schedule.metadata_prefix).above(set)
}

fn next_run(row: &Row) -> Cell {
    match (row.schedule.next_run, row.schedule.job) {
        (Some(next), Some(job)) if row.overdue.is_some() => {
            let due = Cell::Row(vec![Cell::text("due"), Cell::Ago(next.0)]);
            let due = Cell::link(format!("/runs/{job}"), due);
            due.above(row.overdue.as_ref().map(|why| Cell::note(Cell::text(why))))
        }
        (Some(next), Some(job)) => Cell::link(format!("/runs/{job}"), Cell::Ago(next.0)),
        (None, Some(job)) => Cell::link(format!("/runs/{job}"), Cell::badge("running")),
        _ => Cell::None("none"),
    }
}

fn last(row: &Row) -> Cell {
    Cell::of(
        row.last.as_ref(),
        |last| {
            let state = Cell::link(&last.link, Cell::badge(last.state));
            state.above(Some(Cell::note(Cell::Ago(last.started))))
        },
        "none yet",
    )
}

fn actions(row: &Row) -> Cell {
    let (id, title) = (row.schedule.id, row.schedule.title());
    let post = |label, action| Action::post(label, format!("/schedules/{id}/{action}"), &title);
    let mut actions = vec![post("Run now", "run")];
    match row.schedule.state {
        ScheduleState::Paused => actions.push(post("Resume", "resume")),
        ScheduleState::Ended => {}
        _ => actions.push(post("Pause", "pause")),
    }
    actions.push(Action::page(
        "Edit",
        format!("/schedules/{id}/edit"),
        &title,
    ));
    Cell::Actions(actions)
}

/// `POST /schedules/bulk`
pub(crate) async fn bulk(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<BulkForm>,
) -> Answer {
    let (context, actor) = (state.context(), who.actor());
    let mut results = Vec::with_capacity(form.ids.len());
    for id in form.ids {
        let result = match form.action.as_str() {
            "run" => schedules::run(context, &actor, id).await.map(drop),
            "pause" => schedules::pause(context, &actor, id).await.map(drop),
            "resume" => schedules::resume(context, &actor, id).await.map(drop),
            "remove" => schedules::remove(context, &actor, id).await.map(drop),
            _ => {
                return Err(Problem::invalid(
                    "choose what to do: run, pause, resume or remove",
                ));
            }
        };
        results.push((id, result));
    }
    let participle = match form.action.as_str() {
        "run" => "queued",
        "pause" => "paused",
        "resume" => "resumed",
        _ => "removed",
    };
    bulk_done("/schedules", WORDS, participle, results)
}

/// The states, to choose from.
const STATES: [(&str, &str); 6] = [
    ("", "all"),
    ("new", "new: planned in a moment"),
    ("recurring", "recurring"),
    ("once", "once"),
    ("paused", "paused"),
    ("ended", "ended"),
];

const WORDS: [&str; 2] = ["schedule", "schedules"];
const ADD: (&str, &str) = ("Add schedule", "/schedules/new");
const BULK: [(&str, &str); 3] = [("run", "Run now"), ("pause", "Pause"), ("resume", "Resume")];
const FIELDS: [&str; 12] = [
    "id",
    "name",
    "kind",
    "repository",
    "base_url",
    "metadata_prefix",
    "set",
    "frequency",
    "state",
    "next_run",
    "last_run",
    "job",
];
