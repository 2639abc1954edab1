//! `GET /`: the overview. It shows what needs attention, what runs and comes up, harvests over time, and totals.

mod activity;
pub(crate) mod api;
mod health;
mod now;
mod steps;

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Deserialize;

use self::activity::{ActivityChart, Measure, Span};
use self::now::Now;
use self::steps::FirstSteps;
pub(crate) use self::steps::hide as hide_first_steps;
use crate::dress::page;
use crate::extract::Query;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::{Viewer, Who};

#[derive(Deserialize)]
pub(crate) struct Parameters {
    #[serde(default)]
    span: Span,
    #[serde(default)]
    measure: Measure,
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Dashboard {
    who: Who,
    now: Now,
    activity: ActivityChart,
    steps: FirstSteps,
}

pub(crate) async fn show(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    Query(Parameters { span, measure }): Query<Parameters>,
) -> Answer {
    let now = Now::new(&state, &who).await?;
    page(&Dashboard {
        activity: ActivityChart::new(&state, span, measure).await?,
        steps: FirstSteps::new(&now.overview, &who, state.cookies(), &headers),
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
    Query(Parameters { span, measure }): Query<Parameters>,
) -> Answer {
    page(&ActivityChart::new(&state, span, measure).await?)
}
