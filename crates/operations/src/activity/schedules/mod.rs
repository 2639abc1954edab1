//! Schedules: harvests and imports that run by themselves.

pub(crate) mod checks;
mod draft;
mod entity;
mod planning;

use catalog::{Role, Schedule as Row, ScheduleQuery, Scheduled};

use self::draft::Draft;
pub use self::draft::{NewSchedule, SchedulePatch};
pub use self::entity::{Schedule, ScheduleKind, beside, fields, import_settings};
pub use self::planning::{Next, next, upcoming, waits_too_long};
use crate::jobs::Job;
use crate::{Actor, Context, Frequency, Listed, Mistake, Orders, Paging, Refusal, Time};

/// When a schedule runs, and mistakes that keep it from being saved.
#[derive(Debug, Clone, Default)]
pub struct Preview {
    /// How often, in words; none if that cannot be read.
    pub described: Option<String>,
    /// The next runs.
    pub times: Vec<Time>,
    /// All mistakes.
    pub mistakes: Vec<Mistake>,
}

/// Lists schedules, the oldest first unless `paging` says otherwise.
pub async fn list(
    context: &Context,
    query: &ScheduleQuery,
    paging: &Paging,
) -> Result<Listed<Schedule>, Refusal> {
    let rows = context.catalog().schedules(query).await?;
    paging.page(rows.into_iter().map(Schedule::from).collect(), ORDERS)
}

/// The orders of the list.
const ORDERS: Orders<'_, Schedule> = &[
    ("name", |schedule| schedule.title().as_str().into()),
    ("repository", |schedule| schedule.about().as_str().into()),
    ("state", |schedule| schedule.state.name().into()),
    ("next_run", |schedule| schedule.next_run.into()),
    ("last_run", |schedule| schedule.last_run.into()),
    ("added", |schedule| schedule.added.into()),
];

/// Shows a schedule.
pub async fn show(context: &Context, id: i64) -> Result<Schedule, Refusal> {
    Ok(row(context, id).await?.into())
}

/// The next runs of a schedule, at most `most`.
pub async fn runs(context: &Context, id: i64, most: usize) -> Result<Vec<Time>, Refusal> {
    let row = row(context, id).await?;
    let now = context.catalog().now().await?;
    let times = upcoming(&row, now, most).into_iter();
    Ok(times.map(Time).collect())
}

/// The next runs of a schedule that would be added now.
pub async fn preview_times(
    context: &Context,
    patch: &SchedulePatch,
    most: usize,
) -> Result<Preview, Refusal> {
    let draft = Draft::of_times(context, None, patch).await?;
    Ok(draft.preview(most))
}

/// Checks a schedule that is to be added, without adding it.
pub async fn preview(
    context: &Context,
    actor: &Actor,
    new: &NewSchedule,
    most: usize,
) -> Result<Preview, Refusal> {
    let draft = Draft::new(context, actor, new).await?;
    Ok(draft.preview(most))
}

/// Checks a change of a schedule, without making it.
pub async fn preview_change(
    context: &Context,
    actor: &Actor,
    id: i64,
    patch: &SchedulePatch,
    most: usize,
) -> Result<Preview, Refusal> {
    let before = row(context, id).await?;
    let draft = Draft::change(context, actor, &before, patch).await?;
    Ok(draft.preview(most))
}

/// Adds a schedule.
pub async fn add(context: &Context, actor: &Actor, new: &NewSchedule) -> Result<Schedule, Refusal> {
    actor.require(Role::Operator)?;
    let draft = Draft::new(context, actor, new).await?;
    let settings = draft
        .finish(context, actor, new.patch.harvest.as_ref())
        .await?;
    let schedule = context
        .catalog()
        .add_schedule(&settings, new.paused)
        .await?;
    let schedule = Schedule::from(schedule);
    let details = format!("{}, {}", schedule.about(), schedule.frequency);
    let subject = schedule.subject();
    context
        .audit(actor, "schedule.add", subject, Some(details))
        .await;
    Ok(schedule)
}

/// Changes the settings of a schedule that are given. `version` is the one that the actor saw.
pub async fn change(
    context: &Context,
    actor: &Actor,
    id: i64,
    version: i64,
    patch: &SchedulePatch,
) -> Result<Schedule, Refusal> {
    actor.require(Role::Operator)?;
    let before = row(context, id).await?;
    let draft = Draft::change(context, actor, &before, patch).await?;
    save(context, actor, before, version, draft, patch).await
}

/// Replaces all settings of a schedule: those that are not given get their defaults.
pub async fn replace(
    context: &Context,
    actor: &Actor,
    id: i64,
    version: i64,
    new: &NewSchedule,
) -> Result<Schedule, Refusal> {
    actor.require(Role::Operator)?;
    let before = row(context, id).await?;
    let draft = Draft::replace(context, actor, &before, new).await?;
    save(context, actor, before, version, draft, &new.patch).await
}

async fn save(
    context: &Context,
    actor: &Actor,
    before: Row,
    version: i64,
    draft: Draft,
    patch: &SchedulePatch,
) -> Result<Schedule, Refusal> {
    let settings = draft.finish(context, actor, patch.harvest.as_ref()).await?;
    let catalog = context.catalog();
    let changed = catalog
        .change_schedule(before.id, version, &settings)
        .await?;
    forget_access(context, &before).await?;
    let (before, after) = (Schedule::from(before), Schedule::from(changed));
    let details = after.difference(&before);
    let subject = after.subject();
    context
        .audit(actor, "schedule.change", subject, Some(details))
        .await;
    Ok(after)
}

/// Pauses a schedule: nothing runs until it is resumed.
pub async fn pause(context: &Context, actor: &Actor, id: i64) -> Result<Schedule, Refusal> {
    actor.require(Role::Operator)?;
    let schedule = Schedule::from(context.catalog().pause_schedule(id).await?);
    let subject = schedule.subject();
    context.audit(actor, "schedule.pause", subject, None).await;
    Ok(schedule)
}

/// Resumes a schedule.
pub async fn resume(context: &Context, actor: &Actor, id: i64) -> Result<Schedule, Refusal> {
    actor.require(Role::Operator)?;
    let schedule = Schedule::from(context.catalog().resume_schedule(id).await?);
    let subject = schedule.subject();
    context.audit(actor, "schedule.resume", subject, None).await;
    Ok(schedule)
}

/// Runs a schedule at once, also if it is paused or has ended.
pub async fn run(context: &Context, actor: &Actor, id: i64) -> Result<Job, Refusal> {
    actor.require(Role::Operator)?;
    let schedule = show(context, id).await?;
    let (attempts, by) = (context.settings().attempts, Some(actor.name.as_str()));
    let job = context.catalog().run_schedule_now(id, attempts, by).await?;
    let details = Some(format!("job {}", job.id));
    context
        .audit(actor, "schedule.run", schedule.subject(), details)
        .await;
    Ok(job.into())
}

/// Removes a schedule with its waiting job.
pub async fn remove(context: &Context, actor: &Actor, id: i64) -> Result<Schedule, Refusal> {
    actor.require(Role::Operator)?;
    let row = row(context, id).await?;
    if !context.catalog().remove_schedule(id).await? {
        return Err(unknown(id));
    }
    forget_access(context, &row).await?;
    let schedule = Schedule::from(row);
    let subject = schedule.subject();
    context.audit(actor, "schedule.remove", subject, None).await;
    Ok(schedule)
}

/// How often a schedule runs, in words; a text that cannot be read stays as it is.
pub fn describe(frequency: &str) -> String {
    let parsed = frequency.parse::<Frequency>();
    parsed.map_or_else(|_| frequency.to_owned(), |frequency| frequency.describe())
}

async fn row(context: &Context, id: i64) -> Result<Row, Refusal> {
    let row = context.catalog().schedule(id).await?;
    row.ok_or_else(|| unknown(id))
}

fn unknown(id: i64) -> Refusal {
    Refusal::from(catalog::Error::UnknownSchedule { id })
}

/// Removes the credentials of a schedule that it does not have any more.
async fn forget_access(context: &Context, before: &Row) -> Result<(), Refusal> {
    if before.settings.what == Scheduled::Import {
        return Ok(());
    }
    Ok(flows::forget_access(context.holdings(), &before.settings.parameters).await?)
}
