//! `/api/v1/schedules`: what is harvested or imported again and again, or once at its time.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use catalog::{Schedule, ScheduleQuery, ScheduleSettings, ScheduleState, Scheduled};
use jobs::{Frequency, HarvestParameters};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::harvest_parameters::Parameters as ParametersSchema;
use super::import_parameters::ImportParameters;
use super::{Listed, Reply, Time, limited, nothing};
use crate::extract::{Json, Path, Query};
use crate::parts::Errors;
use crate::problem::Problem;
use crate::schedules::{self, Choices, Timing, check, check_times};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer, Who};

/// How a schedule stands.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StateName {
    /// It was added or changed, and no job was made of it yet.
    New,
    /// It has a job again and again.
    Recurring,
    /// It has one job.
    Once,
    /// It has none until somebody says so.
    Paused,
    /// Its time is over, or its only job.
    Ended,
}

/// Which schedules are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Those of one repository.
    repository: Option<i64>,
    /// Those that stand so.
    state: Option<StateName>,
    /// Those with this in their name, in that of the repository, in its base URL, or in what is imported.
    text: Option<String>,
    /// How many to leave out at the beginning, for the next page.
    offset: Option<u64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// What somebody says of a schedule.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SettingsJson {
    /// What it does.
    kind: ScheduledKind,
    /// The number of the repository, for a harvest.
    repository: Option<i64>,
    /// What it is called.
    name: String,
    /// The format; empty for an import.
    metadata_prefix: String,
    /// The set, or all.
    set: Option<String>,
    /// `once`, `every 6 hours`, or `cron 0 3 * * *`; in UTC.
    #[schema(example = "every 1 day")]
    frequency: String,
    /// Nothing runs before, and intervals are counted from it.
    starts: Option<Time>,
    /// Nothing runs after.
    ends: Option<Time>,
    /// Everything else that a harvest is told.
    #[schema(value_type = Option<ParametersSchema>)]
    parameters: Option<HarvestParameters>,
    /// What is imported, and how.
    import: Option<ImportParameters>,
}

/// What a schedule does.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScheduledKind {
    /// Harvests a repository.
    Harvest,
    /// Imports a crawl.
    Import,
}

/// A schedule as it is to be: of a harvest with `repository` and `metadata_prefix`, of an import with `import`. What is
/// not said is as usual, also where it was otherwise before.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleOrder {
    /// The number of the repository.
    repository: Option<i64>,
    /// What it is called.
    #[serde(default)]
    name: String,
    /// The format.
    #[serde(default)]
    metadata_prefix: String,
    /// The set, or all.
    set: Option<String>,
    /// `once`, `every 6 hours`, or `cron 0 3 * * *`; in UTC.
    #[schema(example = "every 1 day")]
    frequency: String,
    /// Nothing runs before, and intervals are counted from it.
    starts: Option<Time>,
    /// Nothing runs after.
    ends: Option<Time>,
    /// Everything else that a harvest is told.
    #[schema(value_type = Option<ParametersSchema>)]
    parameters: Option<HarvestParameters>,
    /// What is imported, and how. Each run goes on where the last one ended.
    import: Option<ImportParameters>,
    /// For one that is added: whether it waits until somebody resumes it.
    #[serde(default)]
    paused: bool,
    /// For one that is changed: the version that was seen. Refused with `changed` if there is another by now.
    version: Option<i64>,
}

/// A schedule.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ScheduleJson {
    id: i64,
    #[serde(flatten)]
    settings: SettingsJson,
    base_url: Option<String>,
    repository_name: Option<String>,
    /// How often, in words.
    described: String,
    state: StateName,
    /// When its waiting job is due.
    next_run: Option<Time>,
    /// The number of its job that waits or runs.
    job: Option<i64>,
    last_run: Option<Time>,
    version: i64,
    added: Time,
    changed: Time,
}

/// What to tell the next runs of.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Runs {
    /// `once`, `every 6 hours`, or `cron 0 3 * * *`.
    frequency: String,
    #[param(value_type = Option<String>, format = DateTime)]
    starts: Option<Time>,
    #[param(value_type = Option<String>, format = DateTime)]
    ends: Option<Time>,
    /// How many at most, up to 100; five if that is not said.
    limit: Option<u64>,
}

/// When a new schedule would run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunsJson {
    /// How often, in words.
    described: String,
    times: Vec<Time>,
}

/// The job that a schedule runs by.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StartedJob {
    /// Its number.
    job: i64,
}

/// The schedules, the oldest first
#[utoipa::path(get, path = "/api/v1/schedules", tag = "schedules", operation_id = "list_schedules",
    params(Wanted), responses((status = 200, body = Listed<ScheduleJson>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Reply<Listed<ScheduleJson>> {
    let query = ScheduleQuery {
        repository: wanted.repository,
        state: wanted.state.map(Into::into),
        text: wanted.text.filter(|text| !text.is_empty()),
    };
    let all = state.catalog().schedules(&query).await?;
    let (total, offset) = (all.len() as u64, wanted.offset.unwrap_or(0));
    let limit = limited(wanted.limit);
    let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
    let items: Vec<ScheduleJson> = all
        .into_iter()
        .skip(skipped)
        .take(limit as usize)
        .map(Into::into)
        .collect();
    let end = offset.saturating_add(items.len() as u64);
    Ok(axum::Json(Listed {
        items,
        next: (end < total).then_some(end.cast_signed()),
        total: Some(total),
    }))
}

/// A schedule
#[utoipa::path(get, path = "/api/v1/schedules/{id}", tag = "schedules", operation_id = "show_schedule",
    params(("id" = i64, Path)), responses((status = 200, body = ScheduleJson)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<ScheduleJson> {
    Ok(axum::Json(schedules::schedule(&state, id).await?.into()))
}

/// Adds a schedule
#[utoipa::path(post, path = "/api/v1/schedules", tag = "schedules", operation_id = "add_schedule",
    request_body = ScheduleOrder, responses((status = 201, body = ScheduleJson)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(order): Json<ScheduleOrder>,
) -> Result<(StatusCode, axum::Json<ScheduleJson>), Problem> {
    let paused = order.paused;
    let settings = checked(&state, &who, order, None).await?;
    let schedule = schedules::add(&state, &who, &settings, paused).await?;
    Ok((StatusCode::CREATED, axum::Json(schedule.into())))
}

/// Changes a schedule; its waiting job is planned anew
#[utoipa::path(put, path = "/api/v1/schedules/{id}", tag = "schedules", operation_id = "change_schedule",
    params(("id" = i64, Path)), request_body = ScheduleOrder, responses((status = 200, body = ScheduleJson)))]
pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(order): Json<ScheduleOrder>,
) -> Reply<ScheduleJson> {
    let before = schedules::schedule(&state, id).await?;
    let version = order.version;
    let version = version.ok_or_else(|| Problem::invalid("version: give the one that was seen"))?;
    let settings = checked(&state, &who, order, Some(&before)).await?;
    let schedule = schedules::change(&state, &who, id, version, &settings).await?;
    Ok(axum::Json(schedule.into()))
}

/// Removes a schedule with its waiting job; one that runs goes on
#[utoipa::path(delete, path = "/api/v1/schedules/{id}", tag = "schedules", operation_id = "remove_schedule",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    schedules::remove(&state, &who, id).await?;
    Ok(nothing())
}

/// Lets a schedule rest
#[utoipa::path(post, path = "/api/v1/schedules/{id}/pause", tag = "schedules", operation_id = "pause_schedule",
    params(("id" = i64, Path)), responses((status = 200, body = ScheduleJson)))]
pub(crate) async fn pause(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<ScheduleJson> {
    Ok(axum::Json(schedules::pause(&state, &who, id).await?.into()))
}

/// Lets a schedule go on
#[utoipa::path(post, path = "/api/v1/schedules/{id}/resume", tag = "schedules", operation_id = "resume_schedule",
    params(("id" = i64, Path)), responses((status = 200, body = ScheduleJson)))]
pub(crate) async fn resume(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<ScheduleJson> {
    Ok(axum::Json(
        schedules::resume(&state, &who, id).await?.into(),
    ))
}

/// Lets a schedule run at once, also if it is paused or has ended
#[utoipa::path(post, path = "/api/v1/schedules/{id}/run", tag = "schedules", operation_id = "run_schedule",
    params(("id" = i64, Path)), responses((status = 200, body = StartedJob)))]
pub(crate) async fn run(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<StartedJob> {
    let job = schedules::run(&state, &who, id).await?;
    Ok(axum::Json(StartedJob { job: job.id }))
}

/// When a new schedule would run, and how often in words
#[utoipa::path(get, path = "/api/v1/schedules/runs", tag = "schedules", operation_id = "preview_schedule",
    params(Runs), responses((status = 200, body = RunsJson)))]
pub(crate) async fn runs(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Runs>,
) -> Reply<RunsJson> {
    let now = state.catalog().now().await?;
    let frequency = frequency(&wanted.frequency)?;
    let described = frequency.describe();
    let timing = Timing {
        frequency,
        starts: wanted.starts.map(|time| time.0),
        ends: wanted.ends.map(|time| time.0),
        added: now,
        is_new: true,
        skipped: None,
    };
    let most = wanted.limit.unwrap_or(5).clamp(1, 100) as usize;
    let times = timing.next(now, most).into_iter().map(Time).collect();
    Ok(axum::Json(RunsJson { described, times }))
}

/// The settings, if nothing is wrong with them.
async fn checked(
    state: &ConsoleState,
    who: &Who,
    wanted: ScheduleOrder,
    before: Option<&Schedule>,
) -> Result<ScheduleSettings, Problem> {
    let frequency = frequency(&wanted.frequency)?;
    let (starts, ends) = (
        wanted.starts.map(|time| time.0),
        wanted.ends.map(|time| time.0),
    );
    let now = state.catalog().now().await?;
    let timing = Timing {
        frequency,
        starts,
        ends,
        added: before.map_or(now, |before| before.added),
        is_new: before.is_none_or(|before| before.last_run.is_none()),
        skipped: None,
    };
    let mut settings = ScheduleSettings {
        what: Scheduled::Import,
        name: wanted.name.trim().to_owned(),
        parameters: String::new(),
        frequency: timing.frequency.to_string(),
        starts,
        ends,
    };
    let mut errors = Errors::default();
    match (wanted.repository, wanted.import) {
        (Some(repository), None) => {
            let parameters = wanted.parameters.unwrap_or_default();
            let set = wanted.set.filter(|set| !set.is_empty());
            let named = set.as_deref().unwrap_or_default();
            let choices = Choices::of(state, repository, named).await?;
            settings.parameters = parameters.text()?;
            settings.what = Scheduled::Harvest {
                repository,
                metadata_prefix: wanted.metadata_prefix,
                set,
            };
            let timing = Some(&timing);
            check(&settings, &parameters, timing, &choices, now, &mut errors);
        }
        (None, Some(import)) => {
            let about_harvests = wanted.parameters.is_some()
                || !wanted.metadata_prefix.is_empty()
                || wanted.set.is_some();
            if about_harvests {
                return Err(Problem::invalid(
                    "metadata_prefix, set and parameters are about harvests; what is said of an import is in import",
                ));
            }
            let known = before.filter(|before| before.settings.what == Scheduled::Import);
            let known = known.map(|known| schedules::order(&known.settings));
            let order = import.permitted(state, who, known.as_ref()).await?;
            settings.parameters = order.text()?;
            check_times(&settings, Some(&timing), now, &mut errors);
        }
        _ => {
            return Err(Problem::invalid(
                "give either repository, for a harvest, or import",
            ));
        }
    }
    errors.into_problem()?;
    Ok(settings)
}

fn frequency(text: &str) -> Result<Frequency, Problem> {
    let frequency = text.parse::<Frequency>();
    frequency.map_err(|error| Problem::invalid(format!("frequency: {}", jobs::message(&error))))
}

impl From<Schedule> for ScheduleJson {
    fn from(schedule: Schedule) -> Self {
        let frequency = &schedule.settings.frequency;
        let parsed = frequency.parse::<Frequency>();
        Self {
            id: schedule.id,
            described: parsed.map_or_else(|_| frequency.clone(), |frequency| frequency.describe()),
            base_url: schedule.base_url,
            repository_name: schedule.repository_name,
            state: schedule.state.into(),
            next_run: schedule.next_run.map(Time),
            job: schedule.job,
            last_run: schedule.last_run.map(Time),
            version: schedule.version,
            added: Time(schedule.added),
            changed: Time(schedule.changed),
            settings: schedule.settings.into(),
        }
    }
}

impl From<ScheduleSettings> for SettingsJson {
    fn from(settings: ScheduleSettings) -> Self {
        let is_import = settings.what == Scheduled::Import;
        let import = is_import.then(|| ImportParameters::of(&schedules::order(&settings)));
        let parameters = HarvestParameters::parse(&settings.parameters).unwrap_or_default();
        Self {
            kind: match is_import {
                true => ScheduledKind::Import,
                false => ScheduledKind::Harvest,
            },
            repository: settings.what.repository(),
            metadata_prefix: settings.what.metadata_prefix().to_owned(),
            set: settings.what.set().map(str::to_owned),
            name: settings.name,
            frequency: settings.frequency,
            starts: settings.starts.map(Time),
            ends: settings.ends.map(Time),
            parameters: (!is_import).then_some(parameters),
            import,
        }
    }
}

impl From<ScheduleState> for StateName {
    fn from(state: ScheduleState) -> Self {
        match state {
            ScheduleState::New => Self::New,
            ScheduleState::Recurring => Self::Recurring,
            ScheduleState::Once => Self::Once,
            ScheduleState::Paused => Self::Paused,
            ScheduleState::Ended => Self::Ended,
        }
    }
}

impl From<StateName> for ScheduleState {
    fn from(state: StateName) -> Self {
        match state {
            StateName::New => Self::New,
            StateName::Recurring => Self::Recurring,
            StateName::Once => Self::Once,
            StateName::Paused => Self::Paused,
            StateName::Ended => Self::Ended,
        }
    }
}
