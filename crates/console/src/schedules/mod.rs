//! Schedules: what pages and API do alike. Every change ends up in the audit trail.

mod check;
mod form;
mod moment;
mod timing;

use catalog::{Job, Schedule, ScheduleSettings};

pub(crate) use self::check::{Choices, check};
pub(crate) use self::form::ScheduleForm;
pub(crate) use self::moment::{moment, shown};
pub(crate) use self::timing::Timing;

use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Who;

/// The schedule with this number.
pub(crate) async fn schedule(state: &ConsoleState, id: i64) -> Result<Schedule, Problem> {
    let schedule = state.catalog().schedule(id).await?;
    schedule.ok_or_else(|| Problem::from(catalog::Error::UnknownSchedule { id }))
}

/// Adds a schedule; its settings have been checked.
pub(crate) async fn add(
    state: &ConsoleState,
    who: &Who,
    settings: &ScheduleSettings,
    paused: bool,
) -> Result<Schedule, Problem> {
    let schedule = state.catalog().add_schedule(settings, paused).await?;
    let details = format!("{}, {}", schedule.base_url, settings.frequency);
    state
        .audit(who, "schedule.add", subject(&schedule), Some(details))
        .await;
    Ok(schedule)
}

/// Changes a schedule that was seen in this version; its settings have been checked.
pub(crate) async fn change(
    state: &ConsoleState,
    who: &Who,
    id: i64,
    version: i64,
    settings: &ScheduleSettings,
) -> Result<Schedule, Problem> {
    let before = schedule(state, id).await?;
    let catalog = state.catalog();
    let schedule = catalog.change_schedule(id, version, settings).await?;
    let details = differences(&before.settings, settings);
    state
        .audit(who, "schedule.change", subject(&schedule), Some(details))
        .await;
    Ok(schedule)
}

/// Lets a schedule rest.
pub(crate) async fn pause(state: &ConsoleState, who: &Who, id: i64) -> Result<Schedule, Problem> {
    let schedule = state.catalog().pause_schedule(id).await?;
    let subject = subject(&schedule);
    state.audit(who, "schedule.pause", subject, None).await;
    Ok(schedule)
}

/// Lets a schedule go on.
pub(crate) async fn resume(state: &ConsoleState, who: &Who, id: i64) -> Result<Schedule, Problem> {
    let schedule = state.catalog().resume_schedule(id).await?;
    let subject = subject(&schedule);
    state.audit(who, "schedule.resume", subject, None).await;
    Ok(schedule)
}

/// Lets a schedule run at once.
pub(crate) async fn run(state: &ConsoleState, who: &Who, id: i64) -> Result<Job, Problem> {
    let known = schedule(state, id).await?;
    let by = Some(who.account.name.as_str());
    let catalog = state.catalog();
    let job = catalog.run_schedule_now(id, jobs::ATTEMPTS, by).await?;
    let details = Some(format!("job {}", job.id));
    state
        .audit(who, "schedule.run", subject(&known), details)
        .await;
    Ok(job)
}

/// Removes a schedule with its waiting job.
pub(crate) async fn remove(state: &ConsoleState, who: &Who, id: i64) -> Result<Schedule, Problem> {
    let known = schedule(state, id).await?;
    if !state.catalog().remove_schedule(id).await? {
        return Err(catalog::Error::UnknownSchedule { id }.into());
    }
    state
        .audit(who, "schedule.remove", subject(&known), None)
        .await;
    Ok(known)
}

/// What people call a schedule: by its name, or else by its number.
pub(crate) fn title(schedule: &Schedule) -> String {
    match schedule.settings.name.trim() {
        "" => format!("Schedule {}", schedule.id),
        name => name.to_owned(),
    }
}

fn subject(schedule: &Schedule) -> String {
    match schedule.settings.name.trim() {
        "" => format!("schedule {}", schedule.id),
        name => format!("schedule {} ({name})", schedule.id),
    }
}

/// What a change changed, for the audit trail.
fn differences(before: &ScheduleSettings, after: &ScheduleSettings) -> String {
    let (before, after) = (ScheduleForm::of(before), ScheduleForm::of(after));
    let mut changes = Vec::new();
    for (label, old, new) in before.beside(&after) {
        if old != new {
            changes.push(format!("{label}: {old} → {new}"));
        }
    }
    match changes.is_empty() {
        true => "nothing is different".to_owned(),
        false => changes.join("; "),
    }
}
