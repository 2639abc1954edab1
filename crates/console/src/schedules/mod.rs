//! Schedules: what pages and API do alike. Every change ends up in the audit trail.

mod check;
mod form;
mod moment;
mod timing;

use catalog::{Job, Schedule, ScheduleSettings, Scheduled};
use jobs::ImportCrawl;

pub(crate) use self::check::{Choices, check, check_times};
pub(crate) use self::form::ScheduleForm;
pub(crate) use self::moment::{moment, shown};
pub(crate) use self::timing::Timing;

use crate::imports::{ImportForm, described};
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
    let details = format!("{}, {}", about(&schedule), settings.frequency);
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
    jobs::forget_access(state.holdings(), &before.settings.parameters).await?;
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
    jobs::forget_access(state.holdings(), &known.settings.parameters).await?;
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

/// What a schedule is about: where the repository answers, or what is imported.
pub(crate) fn about(schedule: &Schedule) -> String {
    match &schedule.base_url {
        Some(base_url) => base_url.clone(),
        None => described(&order(&schedule.settings)),
    }
}

/// What a schedule imports.
pub(crate) fn order(settings: &ScheduleSettings) -> ImportCrawl {
    ImportCrawl::parse(&settings.parameters).unwrap_or_default()
}

fn subject(schedule: &Schedule) -> String {
    match schedule.settings.name.trim() {
        "" => format!("schedule {}", schedule.id),
        name => format!("schedule {} ({name})", schedule.id),
    }
}

/// What a change changed, for the audit trail.
fn differences(before: &ScheduleSettings, after: &ScheduleSettings) -> String {
    let mut changes = Vec::new();
    if before.what.kind() != after.what.kind() {
        let all = fields(after).into_iter();
        let all: Vec<_> = all.map(|(label, new)| format!("{label}: {new}")).collect();
        return format!("it does something else now; {}", all.join("; "));
    }
    for ((label, old), (_, new)) in fields(before).into_iter().zip(fields(after)) {
        if old != new {
            changes.push(format!("{label}: {old} → {new}"));
        }
    }
    match changes.is_empty() {
        true => "nothing is different".to_owned(),
        false => changes.join("; "),
    }
}

/// All that was said of a schedule, in the order of its form.
pub(crate) fn fields(settings: &ScheduleSettings) -> Vec<(&'static str, String)> {
    let form = ScheduleForm::of(settings);
    match settings.what {
        Scheduled::Harvest { .. } => form.fields(),
        Scheduled::Import => {
            let mut fields = form.times_fields();
            fields.extend(ImportForm::of(&order(settings)).fields());
            fields
        }
    }
}
