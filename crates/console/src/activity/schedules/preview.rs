//! `GET /schedules/preview`: the next runs of a schedule that is being written. The script asks for it while one types.

use axum::extract::State;
use operations::schedules;

use super::ScheduleForm;
use super::form::{RUNS, Runs, times};
use crate::dress::page;
use crate::extract::Query;
use crate::problem::Answer;
use crate::state::ConsoleState;
use crate::who::Operator;

pub(crate) async fn show(
    Operator(_): Operator,
    State(state): State<ConsoleState>,
    Query(form): Query<ScheduleForm>,
) -> Answer {
    let (patch, mut mistakes) = times(&form);
    let preview = schedules::preview_times(state.context(), &patch, RUNS).await?;
    mistakes.extend(preview.mistakes.iter().cloned());
    let mistakes = mistakes.into_iter().filter(|it| it.field != Some("name"));
    page(&Runs {
        errors: mistakes.map(|mistake| mistake.reason).collect(),
        ..Runs::of(&preview, state.catalog().now().await?)
    })
}
