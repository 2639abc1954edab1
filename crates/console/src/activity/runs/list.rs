//! `GET /runs`: runs that are active, queued with the reason, failed by their causes, or all; and `GET /imports`, the same
//! list for imports alone.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use catalog::JobKind;
use operations::imports::KEPT_NOTHING;
use operations::runs::{self, FailureCause, Run, RunFilter, RunState};
use operations::{Code, Listed, Refusal};

use super::api::DAYS;
use crate::dress::page;
use crate::extract::{Form, Query};
use crate::filters;
use crate::parts::table::{
    Action, Around, Bulk, BulkForm, Cell, Column, Filter, Filters, Tab, Table, View, bulk_done,
};
use crate::parts::{Link, Typed};
use crate::problem::{Answer, Problem};
use crate::repositories::choices::repository_choices;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

/// One of the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Active,
    Queued,
    Failed,
    All,
    Imports,
}

#[derive(Template)]
#[template(path = "runs_failed.html")]
struct FailedPage {
    who: Who,
    tabs: Vec<Tab>,
    causes: Causes,
}

/// The part that is kept up to date.
#[derive(Template)]
#[template(path = "runs_causes.html")]
struct Causes {
    can_operate: bool,
    /// The end of the addresses of its buttons.
    back: &'static str,
    groups: Vec<FailureCause>,
    is_cut: bool,
}

impl HtmlSafe for Causes {}

/// `GET /runs`
pub(crate) async fn active(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    list(who, state, asked, Place::Active).await
}

/// `GET /runs/queued`
pub(crate) async fn queued(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    list(who, state, asked, Place::Queued).await
}

/// `GET /runs/all`
pub(crate) async fn all(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    list(who, state, asked, Place::All).await
}

/// `GET /imports`
pub(crate) async fn imports(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    list(who, state, asked, Place::Imports).await
}

/// `GET /runs/failed`
pub(crate) async fn failed(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(asked): Query<Typed>,
) -> Answer {
    if !asked.get("cause").is_empty() {
        return list(who, state, asked, Place::Failed).await;
    }
    let causes = Causes::new(&state, &who).await?;
    let tabs = tabs(&state, Place::Failed, causes.groups.len()).await?;
    page(&FailedPage { who, tabs, causes })
}

/// `GET /runs/failed/live`
pub(crate) async fn failed_live(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    page(&Causes::new(&state, &who).await?)
}

impl Causes {
    async fn new(state: &ConsoleState, who: &Who) -> Result<Self, Problem> {
        let failures = runs::failures(state.context(), DAYS).await?;
        Ok(Self {
            can_operate: who.can_operate(),
            back: "",
            groups: failures.groups,
            is_cut: failures.is_cut,
        })
    }
}

async fn list(who: Who, state: ConsoleState, asked: Typed, place: Place) -> Answer {
    // The address of a tab while these were parameters.
    if let Some(tab) = [
        ("all", "/runs/all"),
        ("queued", "/runs/queued"),
        ("failed", "/runs/failed"),
    ]
    .into_iter()
    .find(|(tab, _)| place == Place::Active && *tab == asked.get("tab"))
    {
        return Ok(Redirect::to(tab.1).into_response());
    }
    let mut filters = Filters::new(asked);
    if matches!(place, Place::All | Place::Imports) {
        filters = filters
            .with(Filter::search(
                "Search",
                "repository, source or reason of a failure",
            ))
            .with(Filter::choice("state", "State", STATES));
        if place == Place::All {
            filters = filters
                .with(Filter::choice("kind", "Kind", KINDS))
                .with(Filter::choice(
                    "repository",
                    "Repository",
                    repository_choices(&state, "all").await?,
                ));
        }
        filters = filters
            .with(Filter::date("since", "Started since"))
            .with(Filter::date("until", "Started until"))
            .with_kept("schedule", |number| {
                format!("Only runs of schedule {number}.")
            });
    }
    if place == Place::Failed {
        filters = filters.with_kept("cause", |cause| {
            format!("Only runs that failed so: {cause}.")
        });
    }
    let filter = RunFilter {
        state: Some(place.states(filters.get("state"))),
        kind: match place {
            Place::Imports => Some("import".to_owned()),
            // An address that somebody typed shows something, whatever its words are.
            _ => filters
                .given("kind")
                .filter(|kind| JobKind::parse(kind).is_some()),
        },
        repository: filters.number("repository"),
        schedule: filters.number("schedule"),
        since: filters.since("since"),
        until: filters.until("until"),
        text: filters.given("text"),
        ..RunFilter::default()
    };
    let cause = filters.given("cause").unwrap_or_default();
    let mut actions = Vec::new();
    if place == Place::Imports {
        let rules = &state.context().settings().imports;
        let refusal = rules.require(&who.actor()).err();
        // The form tells those whom only the configuration keeps from it.
        if refusal.is_none_or(|refusal| refusal.code != Code::Forbidden) {
            actions.push(("New import", "/imports/new"));
        }
    }
    if place == Place::All && who.can_operate() {
        actions.push(("Remove old harvests…", "/history/remove?days=365"));
    }
    let tabs = match place {
        Place::Imports => Vec::new(),
        _ => {
            let failures = runs::failures(state.context(), DAYS).await?.groups.len();
            tabs(&state, place, failures).await?
        }
    };
    let around = Around {
        title: if place == Place::Imports {
            "Imports"
        } else {
            "Runs"
        },
        actions,
        tabs,
        ..Around::default()
    };
    let now = state.catalog().now().await?;
    // An empty list of imports offers a first one to those who may order it.
    let first = around.actions.first().copied();
    table(place, filters, &who, now, first)
        .answer(who, around, move |view| {
            read(state.clone(), filter.clone(), place, cause.clone(), view)
        })
        .await
}

async fn read(
    state: ConsoleState,
    filter: RunFilter,
    place: Place,
    cause: String,
    view: View,
) -> Result<Listed<Run>, Refusal> {
    let context = state.context();
    let offset = view.offset.unwrap_or(0);
    if place == Place::Failed {
        let mut failed = runs::runs_of_cause(context, DAYS, Some(&cause)).await?;
        let descending = view.descending == Some(true);
        match view.sort.as_deref() {
            Some("title") => failed.sort_by_cached_key(|run| {
                run.repository_name
                    .as_deref()
                    .unwrap_or_default()
                    .to_lowercase()
            }),
            Some("started") => failed.sort_by_key(|run| run.at),
            _ => {}
        }
        if descending && view.sort.is_some() {
            failed.reverse();
        }
        let limit = view.limit.unwrap_or(operations::MAX_LIMIT);
        let (skipped, most) = (as_index(offset), as_index(limit));
        let mut items = Vec::new();
        for run in failed.iter().skip(skipped).take(most) {
            items.push(runs::show(context, run.id).await?);
        }
        let end = offset + items.len() as u64;
        let total = failed.len() as u64;
        return Ok(Listed {
            next: (end < total).then_some(end.cast_signed()),
            items,
            total: Some(total),
            ..Listed::none()
        });
    }
    let is_by_number = place == Place::Queued || view.sort.is_some();
    let filter = RunFilter {
        before: view.page,
        sort: view.sort,
        descending: view.descending,
        offset: is_by_number.then_some(offset),
        limit: view.limit,
        count: view.count,
        ..filter
    };
    runs::list(context, &filter).await
}

fn as_index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn table(
    place: Place,
    filters: Filters,
    who: &Who,
    now: i64,
    first: Option<(&'static str, &'static str)>,
) -> Table<Run> {
    let can_operate = who.can_operate();
    let mut bulk = Vec::new();
    if can_operate {
        bulk = match place {
            Place::Active => vec![Bulk::post("/runs/bulk", "stop", "Stop").dangerous()],
            Place::Queued => vec![Bulk::post("/runs/bulk", "stop", "Skip").dangerous()],
            Place::Failed => vec![Bulk::post("/runs/bulk", "retry", "Retry")],
            Place::All | Place::Imports => {
                let mut bulk = vec![
                    Bulk::post("/runs/bulk", "retry", "Retry"),
                    Bulk::post("/runs/bulk", "again", "Run again"),
                ];
                if place == Place::All {
                    bulk.push(Bulk::page("/runs/compare", "Compare two"));
                }
                bulk.push(Bulk::page("/runs/remove", "Delete…").dangerous());
                bulk
            }
        };
    }
    let is_queue = place == Place::Queued;
    let table = Table::new(place.path(), WORDS, filters)
        .column(
            Column::new("title", "Run", name)
                .smallest_first()
                .row_heading()
                .breaking(),
        )
        .column(Column::new("state", "State", |run: &Run| {
            let state = Cell::badge(state_of(run));
            state.above(run.kept_nothing().then(|| Cell::badge(KEPT_NOTHING)))
        }));
    let table = match is_queue {
        true => table
            .column(
                Column::new("due", "Due", |run: &Run| {
                    Cell::of(run.due, |due| Cell::Ago(due.0), "now")
                })
                .smallest_first(),
            )
            .column(
                Column::new("attempt", "Attempt", |run: &Run| {
                    let attempt = |job: &operations::jobs::Job| {
                        Cell::text(format!("{} of {}", job.attempt + 1, job.max_attempts))
                    };
                    Cell::of(run.job.as_ref(), attempt, "first")
                })
                .largest_first(),
            ),
        false => {
            let took = Column::new("took", "Took", move |run: &Run| {
                Cell::of(run.seconds(now), Cell::Duration, "–")
            });
            table
                .column(
                    Column::new("started", "Started", |run: &Run| {
                        Cell::of(run.started.or(run.ended), |at| Cell::Ago(at.0), "never")
                    })
                    .largest_first(),
                )
                .column(match place {
                    // These are read one by one.
                    Place::Failed => took,
                    _ => took.largest_first(),
                })
        }
    };
    let table = table
        .column(Column::new("counts", "Counts", figures))
        .column_if(can_operate, || Column::new("actions", "Actions", actions))
        .bulk(|run| run.id, bulk)
        .fields(&FIELDS)
        .below(reason)
        .every(5);
    let table = match place {
        Place::Queued | Place::Failed => table,
        _ => table.by_row_unless_sorted(),
    };
    match place {
        Place::Active => table.empty("No active runs.", None),
        Place::Queued => table.empty("The queue is empty.", None),
        Place::Imports => table.empty("Nothing has been imported yet.", first),
        _ => table.empty("Nothing has run yet.", None),
    }
}

fn name(run: &Run) -> Cell {
    let title = Cell::link(format!("/runs/{}", run.id), Cell::text(&run.title));
    let what = Cell::text(format!("{}, run {}", run.what, run.id));
    title.above(Some(Cell::note(what)))
}

/// The word for the state of a run.
fn state_of(run: &Run) -> &'static str {
    let is_asked = run.job.as_ref().is_some_and(|job| job.cancel_requested);
    match run.state == RunState::Running && is_asked {
        true => "stopping",
        false => run.state.name(),
    }
}

/// How far a run is, or what came of it.
fn figures(run: &Run) -> Cell {
    let number = |number: u64| filters::grouped(&number.to_string());
    match (run.state, run.kind) {
        (RunState::Queued, _) => Cell::None(""),
        (RunState::Running, JobKind::Import) => Cell::text(match run.total {
            Some(total) => format!("{} of {}", filters::sized(run.done), filters::sized(total)),
            None => filters::sized(run.done),
        }),
        (RunState::Running, JobKind::Harvest) => Cell::text(match run.total {
            Some(total) => format!("{} of {} records", number(run.done), number(total)),
            None => format!("{} records", number(run.done)),
        }),
        _ => {
            let counts = run.counts.iter();
            let all: Vec<_> = counts
                .map(|count| format!("{} {}", number(count.count), count.text))
                .collect();
            match &all[..] {
                // The page of the run has what is between.
                [first, .., last] => Cell::text(first).above(Some(Cell::note(Cell::text(last)))),
                _ => {
                    let note = run.job.as_ref().and_then(|job| job.note.as_ref());
                    Cell::of(note, Cell::text, "")
                }
            }
        }
    }
}

/// Why a run waits, what it does, or why it failed, with the runs that it waits for.
fn reason(run: &Run) -> Option<Cell> {
    let reason = run.reason.as_ref()?;
    let is_trouble = match run.state {
        RunState::Failed => true,
        _ => run.why.as_ref().is_some_and(|why| why.is_trouble),
    };
    let others = run.why.iter().flat_map(|why| &why.jobs);
    let others: Vec<i64> = others.copied().collect();
    Some(match (is_trouble, others.is_empty()) {
        (true, true) => Cell::Failure(reason.clone()),
        _ => linked(reason, &others),
    })
}

/// A text in which the numbers of runs lead to these.
pub(super) fn linked(text: &str, runs: &[i64]) -> Cell {
    let mut cells = Vec::new();
    let (mut plain, mut digits) = (String::new(), String::new());
    // Numbers before the word are something else.
    let mut is_named = false;
    let mut flush = |plain: &mut String, digits: &mut String| {
        is_named |= plain.contains("run");
        let run = digits.parse::<i64>().ok();
        match run.filter(|run| is_named && runs.contains(run)) {
            Some(run) => {
                cells.push(Cell::text(std::mem::take(plain)));
                cells.push(Cell::link(
                    format!("/runs/{run}"),
                    Cell::text(digits.clone()),
                ));
            }
            None => plain.push_str(digits),
        }
        digits.clear();
    };
    for letter in text.chars() {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        flush(&mut plain, &mut digits);
        plain.push(letter);
    }
    flush(&mut plain, &mut digits);
    cells.push(Cell::text(plain));
    Cell::Joined(cells)
}

fn actions(run: &Run) -> Cell {
    let post =
        |label, action: &str| Action::post(label, format!("/runs/{}/{action}", run.id), &run.title);
    let mut actions = Vec::new();
    if run.can_stop() && state_of(run) != "stopping" {
        actions.push(match run.state {
            RunState::Queued => post("Skip this run", "stop?was=queued"),
            _ => post("Stop", "stop?was=running"),
        });
    }
    if run.can_retry() {
        actions.push(post("Retry", "retry"));
    }
    Cell::Actions(actions)
}

/// `POST /runs/bulk`
pub(crate) async fn bulk(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Form(form): Form<BulkForm>,
) -> Answer {
    let (context, actor) = (state.context(), who.actor());
    let mut results = Vec::with_capacity(form.ids.len());
    for id in form.ids {
        let result = match form.action.as_str() {
            "stop" => runs::stop(context, &actor, id).await.map(drop),
            "retry" => runs::retry(context, &actor, id).await.map(drop),
            "again" => runs::again(context, &actor, id, false).await.map(drop),
            _ => return Err(Problem::invalid("choose what to do: stop, retry or again")),
        };
        results.push((id, result));
    }
    let participle = match form.action.as_str() {
        "stop" => "stopped or skipped",
        "retry" => "retried",
        _ => "queued again",
    };
    bulk_done("/runs", WORDS, participle, results)
}

async fn tabs(state: &ConsoleState, current: Place, failures: usize) -> Result<Vec<Tab>, Problem> {
    let queued = state.catalog().count_queued().await?;
    let counted = |word: &str, number: u64| match number {
        0 => word.to_owned(),
        number => format!("{word} ({})", filters::grouped(&number.to_string())),
    };
    let tab = |place: Place, label: String| Tab {
        label,
        link: place.path().to_owned(),
        is_current: place == current,
    };
    Ok(vec![
        tab(Place::Active, "Active".to_owned()),
        tab(Place::Queued, counted("Queued", queued)),
        tab(Place::Failed, counted("Failed", failures as u64)),
        tab(Place::All, "All".to_owned()),
    ])
}

/// The list of the runs of a group.
pub(crate) fn of_cause(group: &FailureCause) -> String {
    let link = Link::to(Place::Failed.path()).with("cause", &group.cause);
    link.to_string()
}

/// A text with a capital letter at its beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().collect::<String>() + letters.as_str(),
        None => String::new(),
    }
}

impl Place {
    fn path(self) -> &'static str {
        match self {
            Self::Active => "/runs",
            Self::Queued => "/runs/queued",
            Self::Failed => "/runs/failed",
            Self::All => "/runs/all",
            Self::Imports => "/imports",
        }
    }

    fn states(self, asked: &str) -> String {
        match self {
            Self::Active => "running".to_owned(),
            Self::Queued => "queued".to_owned(),
            _ if RunState::parse(asked).is_some() => asked.to_owned(),
            // Those that wait have a list of their own, and there may be many.
            _ => "running,ok,incomplete,failed,cancelled".to_owned(),
        }
    }
}

const WORDS: [&str; 2] = ["run", "runs"];
const STATES: [(&str, &str); 7] = [
    ("", "all"),
    ("ok", "ok"),
    ("incomplete", "incomplete"),
    ("failed", "failed"),
    ("cancelled", "cancelled"),
    ("running", "running"),
    ("queued", "queued"),
];
const KINDS: [(&str, &str); 9] = [
    ("", "all"),
    ("harvest", "harvests"),
    ("import", "imports"),
    ("hook", "hooks"),
    ("classify", "classifications"),
    ("retrieve", "retrievals"),
    ("feed", "feeds"),
    ("clean", "cleanings"),
    ("quiet", "quiet times"),
];
const FIELDS: [&str; 13] = [
    "id",
    "kind",
    "state",
    "title",
    "what",
    "reason",
    "repository",
    "base_url",
    "schedule",
    "due",
    "started",
    "ended",
    "done",
];
