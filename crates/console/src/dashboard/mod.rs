//! `GET /`: what runs, what failed, what is next, what came in, and how repositories fare.

mod activity;
pub(crate) mod api;
mod health;
mod now;

use askama::Template;
use axum::extract::State;
use catalog::ScheduleQuery;
use serde::Deserialize;

use self::activity::{ActivityCharts, Span};
use self::now::Now;
use crate::dress::page;
use crate::extract::Query;
use crate::problem::{Answer, Problem};
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    #[serde(default)]
    span: Span,
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Dashboard {
    who: Who,
    now: Now,
    activity: ActivityCharts,
    next_step: Option<NextStep>,
}

/// What somebody who has just begun does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextStep {
    AddRepository,
    AddSchedule,
    Wait,
}

impl Dashboard {
    /// Whether a step is the one to take, behind one, or still ahead.
    fn mark(&self, step: usize) -> &'static str {
        let next = match self.next_step {
            Some(NextStep::AddRepository) => 1,
            Some(NextStep::AddSchedule) => 2,
            Some(NextStep::Wait) => 3,
            None => return "",
        };
        match step.cmp(&next) {
            std::cmp::Ordering::Less => "done",
            std::cmp::Ordering::Equal => "next",
            std::cmp::Ordering::Greater => "later",
        }
    }
}

impl NextStep {
    async fn find(state: &ConsoleState, now: &Now) -> Result<Option<Self>, Problem> {
        let totals = &now.totals;
        if totals.harvests > 0 {
            return Ok(None);
        }
        if totals.repositories == 0 {
            return Ok(Some(Self::AddRepository));
        }
        let schedules = state.catalog().schedules(&ScheduleQuery::default()).await?;
        let is_planned = !schedules.is_empty() || totals.jobs.scheduled + totals.jobs.running > 0;
        Ok(Some(match is_planned {
            true => Self::Wait,
            false => Self::AddSchedule,
        }))
    }
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    let now = Now::new(&state, &who).await?;
    page(&Dashboard {
        next_step: NextStep::find(&state, &now).await?,
        activity: ActivityCharts::new(&state, parameters.span).await?,
        now,
        who,
    })
}

/// `GET /dashboard/live`
pub(crate) async fn live(Viewer(who): Viewer, State(state): State<ConsoleState>) -> Answer {
    page(&Now::new(&state, &who).await?)
}

/// `GET /dashboard/charts`
pub(crate) async fn charts(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Answer {
    page(&ActivityCharts::new(&state, parameters.span).await?)
}
