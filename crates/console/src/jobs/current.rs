//! `GET /jobs`: what runs and what waits, kept up to date.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use catalog::{JobQuery, JobState};

use super::JobLine;
use crate::dress::page;
use crate::filters;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Template)]
#[template(path = "jobs.html")]
struct Jobs {
    who: Who,
    live: Live,
}

/// The part that is kept up to date.
#[derive(Template)]
#[template(path = "jobs_live.html")]
struct Live {
    can_operate: bool,
    running: Vec<JobLine>,
    waiting: Vec<JobLine>,
    /// How many wait in all.
    waiting_in_all: u64,
}

impl HtmlSafe for Live {}

impl Live {
    async fn new(state: &ConsoleState, who: &Who) -> Result<Self, Problem> {
        let catalog = state.catalog();
        let now = catalog.now().await?;
        let lines = async |job_state| {
            let query = JobQuery {
                states: vec![job_state],
                limit: MOST,
                ..JobQuery::default()
            };
            let jobs = catalog.jobs(&query).await?;
            let lines = jobs.into_iter().map(|job| JobLine::new(job, now));
            Ok::<Vec<_>, Problem>(lines.collect())
        };
        let waiting = lines(JobState::Scheduled).await?;
        let waiting_in_all = match waiting.len() as u64 {
            few @ ..MOST => few,
            _ => catalog.totals().await?.jobs.scheduled,
        };
        Ok(Self {
            can_operate: who.can_operate(),
            running: lines(JobState::Running).await?,
            waiting,
            waiting_in_all,
        })
    }
}

pub(crate) async fn show(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    let live = Live::new(&state, &who).await?;
    page(&Jobs { who, live })
}

/// `GET /jobs/live`
pub(crate) async fn live(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    page(&Live::new(&state, &who).await?)
}

/// More than this nobody looks through; the list of a repository or a schedule is shorter.
const MOST: u64 = 200;
