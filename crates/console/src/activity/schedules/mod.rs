//! Schedules: pages, forms and API. The operations decide; these translate.

pub(crate) mod add;
pub(crate) mod api;
mod choices;
pub(crate) mod edit;
pub(crate) mod form;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod preview;
pub(crate) mod show;
pub(crate) mod steer;

use catalog::Schedule;

use self::choices::Choices;
use self::form::ScheduleForm;
use crate::problem::Problem;
use crate::state::ConsoleState;

/// The schedule with this number.
pub(crate) async fn schedule(state: &ConsoleState, id: i64) -> Result<Schedule, Problem> {
    let schedule = state.catalog().schedule(id).await?;
    schedule.ok_or_else(|| Problem::from(catalog::Error::UnknownSchedule { id }))
}

/// The name of a schedule, or else its number.
pub(crate) fn title(schedule: &Schedule) -> String {
    match schedule.settings.name.trim() {
        "" => format!("Schedule {}", schedule.id),
        name => name.to_owned(),
    }
}
