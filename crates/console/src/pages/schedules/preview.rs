//! `GET /schedules/preview`: the next runs of a schedule that is being written. The script asks for it while one types.

use axum::extract::State;

use super::form::{RUNS, Runs};
use super::list::in_words;
use crate::dress::page;
use crate::extract::Query;
use crate::parts::Errors;
use crate::problem::Answer;
use crate::schedules::{ScheduleForm, Timing};
use crate::state::ConsoleState;
use crate::who::Operator;

pub(crate) async fn show(
    Operator(_): Operator,
    State(state): State<ConsoleState>,
    Query(form): Query<ScheduleForm>,
) -> Answer {
    let now = state.catalog().now().await?;
    let mut errors = Errors::default();
    let frequency = form.frequency(&mut errors);
    let (starts, ends) = form.times(&mut errors);
    let timing = frequency.map(|frequency| Timing {
        frequency,
        starts,
        ends,
        added: now,
        is_new: true,
        skipped: None,
    });
    let described = timing
        .as_ref()
        .map(|timing| in_words(&timing.frequency.to_string()));
    let said = ["frequency", "number", "cron", "starts", "ends"].map(|field| errors.of(field));
    page(&Runs {
        frequency: described,
        times: timing
            .map(|timing| timing.next(now, RUNS))
            .unwrap_or_default(),
        now,
        errors: said.into_iter().flatten().map(str::to_owned).collect(),
    })
}
