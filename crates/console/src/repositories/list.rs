//! `GET /repositories`: all repositories, searched, filtered and sorted.

use std::collections::HashMap;
use std::ops::Deref;

use axum::extract::State;
use catalog::{JobKind, JobQuery, JobState, ScheduleQuery, ScheduleState};
use operations::jobs::{Job, explained};
use operations::repositories::{self, RecentHarvest, Repository, RepositoryQuery, Tag};
use operations::{Actor, Context, Listed, Paging, Refusal, schedules};
use serde::Serialize;

use super::ask;
use crate::extract::{Form, Query};
use crate::filters;
use crate::parts::table::{
    Around, Bulk, BulkForm, Cell, Column, Filter, Filters, Spark, Table, View, bulk_done,
};
use crate::parts::{Link, Typed};
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    repository: Repository,
    /// Its job that runs, or that is due and has not begun, with the reason.
    #[serde(skip)]
    job: Option<Job>,
}

impl Deref for Row {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        &self.repository
    }
}

pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    let tags = repositories::tags(state.context()).await?;
    let suggestion = |tag: Tag| {
        let words = format!("{} repositories", tag.repositories);
        (tag.tag, words)
    };
    let suggestions = tags.into_iter().map(suggestion).collect();
    let filters = Filters::new(asked)
        .with(Filter::search("Name or base URL", ""))
        .with(Filter::choice("health", "Status", HEALTHS))
        .with(Filter::suggested("tag", "Tag", suggestions));
    let query = RepositoryQuery {
        text: filters.given("text"),
        tag: filters.given("tag").map(|tag| tag.to_lowercase()),
        recent: Some(true),
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
        async move { read(&state, &query).await }
    };
    table.answer(who, around, read).await
}

/// A page of repositories, with the jobs of those that are harvested or waited for.
async fn read(state: &ConsoleState, query: &RepositoryQuery) -> Result<Listed<Row>, Refusal> {
    let listed = repositories::list(state.context(), query).await?;
    let now = state.catalog().now().await?;
    let mut jobs = Vec::new();
    for repository in &listed.items {
        let is_due = repository.next_run.is_some_and(|next| next.0 <= now);
        let has_schedule = repository.schedules > 0 && repository.next_run.is_none();
        if !is_due && !has_schedule && repository.health != "running" {
            continue;
        }
        let query = JobQuery {
            states: vec![JobState::Running, JobState::Scheduled],
            kinds: vec![JobKind::Harvest],
            repository: Some(repository.id),
            limit: 1,
            ..JobQuery::default()
        };
        jobs.extend(state.catalog().jobs(&query).await?);
    }
    let mut jobs: HashMap<_, _> = explained(state.context(), jobs)
        .await?
        .into_iter()
        .filter_map(|job| Some((job.repository?, job)))
        .collect();
    Ok(Listed {
        items: listed
            .items
            .into_iter()
            .map(|repository| Row {
                job: jobs.remove(&repository.id),
                repository,
            })
            .collect(),
        next: listed.next,
        total: listed.total,
        is_more: listed.is_more,
    })
}

fn next_harvest(row: &Row) -> Cell {
    let link = |job: &Job, shown| Cell::link(format!("/runs/{}", job.id), shown);
    match (&row.job, row.next_run) {
        (Some(job), _) if job.state == JobState::Running => link(job, Cell::badge("running")),
        (Some(job), Some(next)) => {
            let due = Cell::Row(vec![Cell::text("due"), Cell::Ago(next.0)]);
            let why = job.why.as_ref();
            link(job, due).above(why.map(|why| Cell::note(Cell::text(&why.text))))
        }
        (_, Some(next)) => Cell::Ago(next.0),
        (_, None) => Cell::None("not scheduled"),
    }
}

fn table(filters: Filters, who: &Who) -> Table<Row> {
    let post = |(action, label)| Bulk::post("/repositories/bulk", action, label);
    let bulk = if who.can_operate() {
        let tags = Bulk::page("/repositories/tags", "Tags…");
        BULK.map(post).into_iter().chain([tags]).collect()
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
            Column::new("records", "Records", |row: &Row| Cell::Number(row.records))
                .number()
                .largest_first(),
        )
        .column(Column::new("recent", "Last harvests", recent))
        .column(Column::new("last_harvest", "Last harvest", last_harvest).largest_first())
        .column(Column::new("next_run", "Next harvest", next_harvest).smallest_first())
        .column(Column::new("schedules", "Schedules", schedules).number())
        .bulk(|row| row.id, bulk)
        .fields(&FIELDS)
        .empty("No repositories yet.", who.can_operate().then_some(ADD))
}

fn name(row: &Row) -> Cell {
    let link = format!("/repositories/{}", row.id);
    let address = Cell::note(Cell::text(&row.base_url));
    let tag = |tag: &String| {
        let link = Link::to("/repositories").with("tag", tag);
        Cell::link(link.to_string(), Cell::Tag(tag.clone()))
    };
    let tags: Vec<_> = row.tags.iter().map(tag).collect();
    let name = Cell::link(link, Cell::text(row.title())).above(Some(address));
    name.above((!tags.is_empty()).then_some(Cell::Row(tags)))
}

/// The changes of the last harvests, those that failed marked.
fn recent(row: &Row) -> Cell {
    let harvests = row.recent.as_deref().unwrap_or_default();
    if harvests.is_empty() {
        return Cell::None("none");
    }
    let spark = |harvest: &RecentHarvest| {
        let day = filters::date(harvest.started.0).strftime("%Y-%m-%d");
        let (state, changes) = (&harvest.state, harvest.changes);
        Spark {
            label: format!("{day} {state}, {changes} changes"),
            value: changes,
            is_failed: state == "failed",
        }
    };
    Cell::Spark(harvests.iter().map(spark).collect())
}

fn health(row: &Row) -> Cell {
    let reason = row
        .last_harvest
        .as_ref()
        .and_then(|last| last.reason.clone());
    let shown = |reason: String| match row.health {
        "failing" => Cell::Failure(reason),
        _ => Cell::note(Cell::text(reason)),
    };
    Cell::badge(row.health).above(reason.map(shown))
}

fn last_harvest(row: &Row) -> Cell {
    let link = |id| format!("/history/{id}");
    let last = row.last_harvest.as_ref();
    Cell::of(
        last,
        |last| Cell::link(link(last.id), Cell::Ago(last.started.0)),
        "never",
    )
}

fn schedules(row: &Row) -> Cell {
    let link = format!("/schedules?repository={}", row.id);
    match row.schedules {
        0 => Cell::None("none"),
        number => Cell::link(link, Cell::Number(number)),
    }
}

/// `POST /repositories/bulk`: does something to several repositories.
pub(crate) async fn bulk(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<BulkForm>,
) -> Answer {
    let participle = match form.action.as_str() {
        "run" => "queued for harvest",
        "refresh" => "refreshed",
        "pause" => "paused",
        "resume" => "resumed",
        _ => {
            return Err(Problem::invalid(
                "choose what to do: run, refresh, pause or resume",
            ));
        }
    };
    if form.action == "refresh" && form.ids.len() > MOST_REFRESHED {
        let reason = format!("choose at most {MOST_REFRESHED} repositories: each of them is asked");
        return Err(Problem::invalid(reason));
    }
    let mut results = Vec::with_capacity(form.ids.len());
    for id in form.ids {
        let (context, actor) = (state.context(), who.actor());
        let done = match form.action.as_str() {
            "run" => run(context, &actor, id).await,
            "refresh" => refresh(&state, &actor, id).await,
            action => steer(context, &actor, id, action == "pause").await,
        };
        results.push((id, done));
    }
    bulk_done("/repositories", WORDS, participle, results)
}

/// Asks a repository about itself.
async fn refresh(state: &ConsoleState, actor: &Actor, id: i64) -> Result<(), Refusal> {
    let known = repositories::show(state.context(), id).await?;
    let description = ask(state, &known.base_url).await?;
    let added = repositories::add(state.context(), actor, description, None);
    added.await.map(drop)
}

/// Pauses the schedules of a repository, or resumes them.
async fn steer(
    context: &Context,
    actor: &Actor,
    repository: i64,
    pauses: bool,
) -> Result<(), Refusal> {
    let query = ScheduleQuery {
        repository: Some(repository),
        ..ScheduleQuery::default()
    };
    let listed = schedules::list(context, &query, &Paging::default()).await?;
    let concerned = listed.items.into_iter().filter(|schedule| match pauses {
        true => !matches!(schedule.state, ScheduleState::Paused | ScheduleState::Ended),
        false => schedule.state == ScheduleState::Paused,
    });
    let concerned: Vec<_> = concerned.collect();
    if concerned.is_empty() {
        let reason = match pauses {
            true => "it has no active schedule",
            false => "it has no paused schedule",
        };
        return Err(Refusal::conflict(reason));
    }
    for schedule in concerned {
        match pauses {
            true => schedules::pause(context, actor, schedule.id).await?,
            false => schedules::resume(context, actor, schedule.id).await?,
        };
    }
    Ok(())
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

/// Actions on several repositories.
const BULK: [(&str, &str); 4] = [
    ("run", "Harvest now"),
    ("refresh", "Refresh details"),
    ("pause", "Pause schedules"),
    ("resume", "Resume schedules"),
];
/// Each of them is asked while somebody waits.
const MOST_REFRESHED: usize = 20;
const WORDS: [&str; 2] = ["repository", "repositories"];
const ADD: (&str, &str) = ("Add repository", "/repositories/new");

const FIELDS: [&str; 12] = [
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
    "tags",
];
