//! The part of the dashboard that is kept up to date: what there is, runs, failed and comes next.

use askama::Template;
use askama::filters::HtmlSafe;
use catalog::{JobQuery, JobState};
use operations::statistics::{self, Statistics};

use super::health::HealthBar;
use crate::filters;
use crate::jobs::JobLine;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Who;

#[derive(Template)]
#[template(path = "dashboard_now.html")]
pub(super) struct Now {
    can_operate: bool,
    pub(super) totals: Statistics,
    health: HealthBar,
    running: Vec<JobLine>,
    failed: Vec<JobLine>,
    next: Vec<JobLine>,
}

impl HtmlSafe for Now {}

impl Now {
    pub(super) async fn new(state: &ConsoleState, who: &Who) -> Result<Self, Problem> {
        let catalog = state.catalog();
        let now = catalog.now().await?;
        let lines = async |job_state, limit| {
            let query = JobQuery {
                states: vec![job_state],
                limit,
                ..JobQuery::default()
            };
            let jobs = catalog.jobs(&query).await?;
            let lines = jobs.into_iter().map(|job| JobLine::new(job, now));
            Ok::<Vec<_>, Problem>(lines.collect())
        };
        let mut failed = lines(JobState::Failed, FAILED).await?;
        failed.retain(|line| line.at() > now - LATELY);
        let totals = statistics::totals(state.context()).await?;
        Ok(Self {
            can_operate: who.can_operate(),
            health: HealthBar::new(&totals.health),
            totals,
            running: lines(JobState::Running, RUNNING).await?,
            failed,
            next: lines(JobState::Scheduled, NEXT).await?,
        })
    }
}

const RUNNING: u64 = 12;
const FAILED: u64 = 6;
const NEXT: u64 = 8;
/// What failed longer ago is for the history.
const LATELY: i64 = 7 * 86_400;
