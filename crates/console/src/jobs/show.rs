//! `GET /jobs/{id}`: a job, how far it is, and its log as it happens.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use catalog::{LogLevel, LogLine, Schedule};

use super::{JobLine, job};
use crate::dress::page;
use crate::extract::Path;
use crate::filters;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "job.html")]
struct JobPage {
    who: Who,
    live: Live,
}

/// The part that is kept up to date.
#[derive(Template)]
#[template(path = "job_live.html")]
struct Live {
    can_operate: bool,
    line: JobLine,
    schedule: Option<Schedule>,
    log: Vec<LogLine>,
    /// Whether the log has earlier lines than those that are shown.
    is_cut: bool,
}

impl HtmlSafe for Live {}

impl Live {
    async fn new(state: &ConsoleState, who: &Who, id: i64) -> Result<Self, Problem> {
        let catalog = state.catalog();
        let job = job(state, id).await?;
        let schedule = match job.schedule {
            Some(schedule) => catalog.schedule(schedule).await?,
            None => None,
        };
        let mut log = catalog.job_log_end(id, LINES + 1).await?;
        let is_cut = log.len() > LINES as usize;
        if is_cut {
            log.remove(0);
        }
        Ok(Self {
            can_operate: who.can_operate(),
            line: JobLine::new(job, catalog.now().await?),
            schedule,
            log,
            is_cut,
        })
    }

    fn mark(&self, line: &LogLine) -> &'static str {
        match line.level {
            LogLevel::Info => "",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
        }
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let live = Live::new(&state, &who, id).await?;
    page(&JobPage { who, live })
}

/// `GET /jobs/{id}/live`
pub(crate) async fn live(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Answer {
    let live = Live::new(&state, &who, id).await?;
    let mut response = page(&live)?;
    if live.line.is_over() {
        // The script need not ask again.
        let over = HeaderName::from_static("x-garner-over");
        let headers = response.headers_mut();
        headers.insert(over, HeaderValue::from_static("1"));
    }
    Ok(response)
}

/// As many lines of a log are shown, the last ones.
const LINES: u64 = 500;
