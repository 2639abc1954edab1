//! `GET /schedules`: all schedules, with how they stand, when they run next and what came of the last run.

use askama::Template;
use axum::extract::State;
use catalog::{HistoryQuery, ImportQuery, Schedule, ScheduleQuery, ScheduleState, Scheduled};
use operations::schedules;
use serde::Deserialize;

use crate::dress::page;
use crate::extract::Query;
use crate::filters;
use crate::parts::{Errors, Link, Pager};
use crate::problem::{Answer, Problem};
use crate::repositories::choices::{named, repository_choices};
use crate::schedules::title;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Parameters {
    text: String,
    repository: String,
    state: String,
    offset: u64,
}

#[derive(Template)]
#[template(path = "schedules.html")]
struct Schedules {
    who: Who,
    text: String,
    repository: String,
    state: String,
    repositories: Vec<(String, String)>,
    rows: Vec<Row>,
    pager: Pager,
    is_filtered: bool,
    errors: Errors,
}

struct Row {
    schedule: Schedule,
    title: String,
    /// What it is about: the name of the repository, or what is imported.
    about: String,
    /// How often, in words.
    frequency: String,
    last: Option<LastRun>,
}

/// What came of the last run.
struct LastRun {
    link: String,
    state: &'static str,
    started: i64,
}

/// The states, to choose from.
pub(crate) const STATES: [(&str, &str); 6] = [
    ("", "all"),
    ("new", "new: planned in a moment"),
    ("recurring", "recurring"),
    ("once", "once"),
    ("paused", "paused"),
    ("ended", "ended"),
];

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let Parameters {
        text,
        repository,
        state: standing,
        offset,
    } = parameters;
    let text = text.trim().to_owned();
    let query = ScheduleQuery {
        repository: repository.parse().ok(),
        state: ScheduleState::parse(&standing),
        text: Some(text.clone()).filter(|text| !text.is_empty()),
    };
    let is_filtered = query.repository.is_some() || query.state.is_some() || query.text.is_some();
    let schedules = state.catalog().schedules(&query).await?;
    let total = schedules.len() as u64;
    let shown = schedules
        .into_iter()
        .skip(usize::try_from(offset).unwrap_or(usize::MAX));
    let mut rows = Vec::new();
    for schedule in shown.take(PAGE as usize) {
        rows.push(row(&state, schedule).await?);
    }
    let link = Link::to("/schedules")
        .with("text", &text)
        .with("repository", &repository)
        .with("state", &standing);
    page(&Schedules {
        who,
        text,
        repository,
        state: standing,
        repositories: repository_choices(&state, "all").await?,
        pager: Pager::by_offset(&link, offset, PAGE, rows.len(), total),
        rows,
        is_filtered,
        errors: Errors::default(),
    })
}

async fn row(state: &ConsoleState, schedule: Schedule) -> Result<Row, Problem> {
    Ok(Row {
        title: title(&schedule),
        about: match &schedule.base_url {
            Some(base_url) => named(schedule.repository_name.as_deref(), base_url),
            None => schedules::Schedule::from(schedule.clone()).about(),
        },
        frequency: schedules::describe(&schedule.settings.frequency),
        last: last_run(state, &schedule).await?,
        schedule,
    })
}

async fn last_run(state: &ConsoleState, schedule: &Schedule) -> Result<Option<LastRun>, Problem> {
    let catalog = state.catalog();
    if schedule.settings.what == Scheduled::Import {
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
        repository: schedule.settings.what.repository(),
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

const PAGE: u64 = 50;
