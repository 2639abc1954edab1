//! `GET /runs/{id}`: everything about a run: its state and reason, progress, counts, log, problems, settings, downloads.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Redirect, Response};
use catalog::{JobKind, LogLevel, Schedule};
use operations::Refusal;
use operations::jobs::LogLine;
use operations::runs::{
    self, CountRole, Neighbours, Problem, ProblemFilter, Run, RunCount, RunState,
};
use serde::Deserialize;

use super::list::linked;
use crate::dress::page;
use crate::extract::{Path, Query};
use crate::filters;
use crate::imports::counted;
use crate::parts::{Link, Pager};
use crate::problem::{self, Answer};
use crate::state::ConsoleState;
use crate::stream;
use crate::who::{Viewer, Who};

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parameters {
    /// The least level of the lines of the log that are shown.
    level: String,
    /// The count whose problems are shown.
    kind: String,
    /// The number of the last problem that was shown.
    after: i64,
}

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage {
    who: Who,
    live: Live,
    problems: Vec<Problem>,
    /// How many there are of all kinds.
    total: u64,
    pager: Pager,
    kind: String,
    neighbours: Neighbours,
    settings: Vec<(String, String)>,
    counters: Vec<(String, u64)>,
}

/// The part that is kept up to date.
#[derive(Template)]
#[template(path = "run_live.html")]
struct Live {
    can_operate: bool,
    run: Run,
    now: i64,
    schedule: Option<Schedule>,
    log: Vec<LogLine>,
    /// Whether the log has earlier lines than those that are shown.
    is_cut: bool,
    level: &'static str,
}

impl HtmlSafe for Live {}

impl Live {
    async fn new(
        state: &ConsoleState,
        who: &Who,
        run: Run,
        level: &str,
    ) -> Result<Self, problem::Problem> {
        let catalog = state.catalog();
        let schedule = match run.schedule {
            Some(schedule) => catalog.schedule(schedule).await?,
            None => None,
        };
        let least = match level {
            "warning" => LogLevel::Warning,
            "error" => LogLevel::Error,
            _ => LogLevel::Info,
        };
        let mut log = match &run.job {
            Some(job) => catalog.job_log_end(job.id, least, LINES + 1).await?,
            None => Vec::new(),
        };
        let is_cut = log.len() > LINES as usize;
        if is_cut {
            log.remove(0);
        }
        Ok(Self {
            can_operate: who.can_operate(),
            run,
            now: catalog.now().await?,
            schedule,
            log: log.into_iter().map(LogLine::from).collect(),
            is_cut,
            level: least.name(),
        })
    }

    /// The word for its state.
    fn state(&self) -> &'static str {
        match self.is_stopping() {
            true => "stopping",
            false => self.run.state.name(),
        }
    }

    fn is_stopping(&self) -> bool {
        let is_asked = self
            .run
            .job
            .as_ref()
            .is_some_and(|job| job.cancel_requested);
        self.run.state == RunState::Running && is_asked
    }

    /// Its reason as HTML: the runs that it names are links.
    fn reason(&self) -> Option<String> {
        let reason = self.run.reason.as_ref()?;
        let others = self.run.why.iter().flat_map(|why| &why.jobs);
        let others: Vec<i64> = others.copied().collect();
        Some(linked(reason, &others).html(""))
    }

    fn is_trouble(&self) -> bool {
        self.run.why.as_ref().is_some_and(|why| why.is_trouble)
    }

    fn is_running(&self) -> bool {
        self.run.state == RunState::Running
    }

    fn is_harvest(&self) -> bool {
        self.run.kind == JobKind::Harvest
    }

    fn is_import(&self) -> bool {
        self.run.kind == JobKind::Import
    }

    /// Whether it wrote a file that can be fetched.
    fn has_file(&self) -> bool {
        self.run.kind == JobKind::Retrieve && self.run.state == RunState::Ok
    }

    /// Whether it is told how far it is.
    fn is_counted(&self) -> bool {
        self.is_harvest() || self.is_import() || self.run.kind == JobKind::Classify
    }

    /// The total, 0 if unknown.
    fn total(&self) -> u64 {
        self.run.total.unwrap_or(0)
    }

    /// Records per second since it was begun.
    fn rate(&self) -> Option<String> {
        let seconds = self.run.seconds(self.now).filter(|seconds| *seconds > 0)?;
        if self.run.done == 0 || !self.is_harvest() {
            return None;
        }
        let rate = self.run.done as f64 / seconds as f64;
        let places = usize::from(rate < 10.0);
        Some(format!("{rate:.places$}"))
    }

    /// The records, documents or problems that a count is of, if the catalog has them one by one.
    fn link(&self, count: &RunCount) -> Option<String> {
        if count.count == 0 {
            return None;
        }
        if let Some(harvest) = &self.run.harvest {
            let records = Link::to("/records").with("harvest", harvest.id);
            return match count.code {
                "new" | "updated" => Some(records.with("deleted", "no").to_string()),
                "deleted" => Some(records.with("deleted", "yes").to_string()),
                "skipped" | "failed" => Some("#problems".to_owned()),
                _ => None,
            };
        }
        let import = self.run.import.as_ref()?;
        match (count.code, count.role) {
            ("new", _) => Some(Link::to("/documents").with("import", import.id).to_string()),
            ("revisits", _) if import.counters.revisits_unknown == 0 => None,
            ("url" | "content" | "revisits" | "other_types" | "status", _)
            | (_, CountRole::Lost) => {
                let problems = Link::to(format!("/runs/{}", self.run.id)).with("kind", count.code);
                Some(format!("{problems}#problems"))
            }
            _ => None,
        }
    }

    fn role(&self, count: &RunCount) -> &'static str {
        match count.role {
            CountRole::All => "all",
            CountRole::Known => "known",
            CountRole::Rejected => "rejected",
            CountRole::Lost => "lost",
            CountRole::Kept => "kept",
        }
    }

    fn mark(&self, line: &LogLine) -> &'static str {
        match line.level {
            LogLevel::Info => "",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
        }
    }

    fn levels(&self) -> [(&'static str, &'static str); 3] {
        [
            ("info", "All lines"),
            ("warning", "Warnings and errors"),
            ("error", "Errors"),
        ]
    }

    /// The page with another choice of lines.
    fn with_level(&self, level: &str) -> String {
        let level = if level == "info" { "" } else { level };
        let link = Link::to(format!("/runs/{}", self.run.id)).with("level", level);
        format!("{link}#log-title")
    }

    fn seconds(&self) -> Option<i64> {
        self.run.seconds(self.now)
    }

    fn seconds_left(&self) -> Option<i64> {
        self.run.seconds_left(self.now)
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let context = state.context();
    let run = runs::show(context, id).await?;
    if run.id != id {
        // Another run resumed it.
        return Ok(Redirect::to(&format!("/runs/{}", run.id)).into_response());
    }
    let filter = ProblemFilter {
        kind: Some(parameters.kind.clone()),
        after: Some(parameters.after),
        limit: Some(PROBLEMS),
    };
    let problems = runs::problems(context, id, &filter).await?;
    let link = Link::to(format!("/runs/{id}")).with("kind", &parameters.kind);
    page(&RunPage {
        neighbours: runs::neighbours(context, id).await?,
        settings: run.settings_in_words(),
        counters: run
            .import
            .as_ref()
            .map_or_else(Vec::new, |import| counted(&import.counters)),
        live: Live::new(&state, &who, run, &parameters.level).await?,
        who,
        pager: Pager::by_number(&link, parameters.after, problems.next),
        total: problems.total.unwrap_or(0),
        problems: problems.items,
        kind: parameters.kind,
    })
}

/// `GET /runs/{id}/live`
pub(crate) async fn live(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let run = runs::show(state.context(), id).await?;
    let is_over = run.state.is_over();
    let live = Live::new(&state, &who, run, &parameters.level).await?;
    let mut response = page(&live)?;
    if is_over {
        // The script need not ask again.
        let over = HeaderName::from_static("x-garner-over");
        let headers = response.headers_mut();
        headers.insert(over, HeaderValue::from_static("1"));
    }
    Ok(response)
}

/// `GET /runs/{id}/report`: the report of an import, a line of JSON for each capture that was skipped or repaired.
pub(crate) async fn report(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let run = runs::show(state.context(), id).await?;
    let import = run
        .import
        .ok_or_else(|| Refusal::not_found(format!("run {id} is no import")))?;
    let turn = state.turn_to_download().await?;
    let report = operations::imports::report(state.context(), import.id).await?;
    let body = stream::of(report, turn);
    let name = format!("attachment; filename=\"run-{id}-report.jsonl\"");
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/jsonl"));
    if let Ok(name) = HeaderValue::from_str(&name) {
        headers.insert(CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

impl RunPage {
    /// The address of the live part, with what is chosen on the page.
    fn live_link(&self) -> Link {
        let level = if self.live.level == "info" {
            ""
        } else {
            self.live.level
        };
        Link::to(format!("/runs/{}/live", self.live.run.id)).with("level", level)
    }

    /// Whether something was skipped of which only the number is known.
    fn is_counted_only(&self) -> bool {
        let mut counts = self.live.run.counts.iter();
        counts.any(|count| {
            matches!(count.role, CountRole::Rejected | CountRole::Lost) && count.count > 0
        })
    }

    /// The number of captures of the count that is shown, if fewer of them are kept.
    fn is_partly_kept(&self) -> Option<u64> {
        let count = self.live.run.counts.iter();
        let count = count
            .filter(|count| count.code == self.kind)
            .map(|count| count.count);
        count
            .max()
            .filter(|count| self.total > 0 && *count > self.total)
    }

    fn has_quirks(&self) -> bool {
        self.live
            .run
            .harvest
            .as_ref()
            .is_some_and(|harvest| !harvest.quirks.is_empty())
    }
}

/// As many lines of a log are shown, the last ones.
const LINES: u64 = 500;
const PROBLEMS: u64 = 50;
