//! `/api/v1/schedules`: harvests and imports that run again and again, or once at their time.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use catalog::{ScheduleQuery, ScheduleState};
use operations::schedules::{self, NewSchedule, Schedule, SchedulePatch};
use operations::{HarvestPatch, ImportPatch, Mistake, Paging, Refusal, Setting, read_fields};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::api::{Listed, Reply, Time, limited, nothing};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// A filter of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Those of one repository.
    repository: Option<i64>,
    /// Those in this state: `new`, `recurring`, `once`, `paused` or `ended`.
    #[param(value_type = Option<String>)]
    state: Option<ScheduleState>,
    /// Those with this in their name, in that of the repository, in its base URL, or in what is imported.
    text: Option<String>,
    /// `name`, `repository`, `state`, `next_run`, `last_run` or `added`; without it the oldest come first.
    sort: Option<String>,
    /// Whether the largest come first.
    descending: Option<bool>,
    /// How many to skip at the beginning, for the next page.
    offset: Option<u64>,
    /// At most this many, up to 1000.
    limit: Option<u64>,
}

/// A schedule: of a harvest with `repository` and `parameters`, of an import with `import`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleBody {
    /// The number of the repository.
    repository: Option<i64>,
    /// Its name, for people.
    name: Option<String>,
    /// The format.
    metadata_prefix: Option<String>,
    /// The set, or all.
    set: Option<String>,
    /// `once`, `every 6 hours`, or `cron 0 3 * * *`; in UTC.
    #[schema(example = "every 1 day")]
    frequency: Option<String>,
    /// Nothing runs before, and intervals are counted from it.
    #[schema(value_type = Option<Time>)]
    starts: Option<Setting<Time>>,
    /// Nothing runs after.
    #[schema(value_type = Option<Time>)]
    ends: Option<Setting<Time>>,
    /// Settings of its harvests.
    #[schema(value_type = Option<HarvestPatch>)]
    parameters: Option<Map<String, Value>>,
    /// Settings of its imports. Each run resumes where the last one ended.
    #[schema(value_type = Option<ImportPatch>)]
    import: Option<Map<String, Value>>,
    /// For one that is added: whether it waits until somebody resumes it.
    #[serde(default)]
    paused: bool,
    /// For one that is changed: the version that was seen. Refused with `changed` if there is another by now.
    version: Option<i64>,
}

/// Times of a schedule that is not there yet.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Times {
    /// `once`, `every 6 hours`, or `cron 0 3 * * *`.
    frequency: String,
    #[param(value_type = Option<String>, format = DateTime)]
    starts: Option<Setting<Time>>,
    #[param(value_type = Option<String>, format = DateTime)]
    ends: Option<Setting<Time>>,
    /// At most this many, up to 100; five by default.
    limit: Option<u64>,
}

/// The next runs of a schedule.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Runs {
    /// How often, in words.
    described: String,
    times: Vec<Time>,
}

/// The job of a run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StartedJob {
    /// Its number.
    job: i64,
}

/// Lists schedules, the oldest first
#[utoipa::path(get, path = "/api/v1/schedules", tag = "schedules", operation_id = "list_schedules",
    params(Wanted), responses((status = 200, body = Listed<Schedule>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Reply<Listed<Schedule>> {
    let query = ScheduleQuery {
        repository: wanted.repository,
        state: wanted.state,
        text: wanted.text.filter(|text| !text.is_empty()),
    };
    let paging = Paging {
        sort: wanted.sort,
        descending: wanted.descending,
        offset: wanted.offset,
        limit: Some(limited(wanted.limit)),
    };
    let listed = schedules::list(state.context(), &query, &paging).await?;
    Ok(axum::Json(listed))
}

/// Shows a schedule
#[utoipa::path(get, path = "/api/v1/schedules/{id}", tag = "schedules", operation_id = "show_schedule",
    params(("id" = i64, Path)), responses((status = 200, body = Schedule)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Schedule> {
    Ok(axum::Json(schedules::show(state.context(), id).await?))
}

/// Adds a schedule
#[utoipa::path(post, path = "/api/v1/schedules", tag = "schedules", operation_id = "add_schedule",
    request_body = ScheduleBody, responses((status = 201, body = Schedule)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(body): Json<ScheduleBody>,
) -> Result<(StatusCode, axum::Json<Schedule>), Problem> {
    let new = body.read()?;
    let schedule = schedules::add(state.context(), &who.actor(), &new).await?;
    Ok((StatusCode::CREATED, axum::Json(schedule)))
}

/// Replaces the settings of a schedule: those that are not given get their defaults. Its waiting job is planned anew
#[utoipa::path(put, path = "/api/v1/schedules/{id}", tag = "schedules", operation_id = "replace_schedule",
    params(("id" = i64, Path)), request_body = ScheduleBody, responses((status = 200, body = Schedule)))]
pub(crate) async fn replace(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(body): Json<ScheduleBody>,
) -> Reply<Schedule> {
    let (version, new) = (body.version()?, body.read()?);
    let (context, actor) = (state.context(), who.actor());
    let replaced = schedules::replace(context, &actor, id, version, &new).await?;
    Ok(axum::Json(replaced))
}

/// Changes the settings of a schedule that are given; an empty text means the default. Its waiting job is planned anew
#[utoipa::path(patch, path = "/api/v1/schedules/{id}", tag = "schedules", operation_id = "change_schedule",
    params(("id" = i64, Path)), request_body = ScheduleBody, responses((status = 200, body = Schedule)))]
pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(body): Json<ScheduleBody>,
) -> Reply<Schedule> {
    let (version, new) = (body.version()?, body.read()?);
    let (context, actor) = (state.context(), who.actor());
    let changed = schedules::change(context, &actor, id, version, &new.patch).await?;
    Ok(axum::Json(changed))
}

/// Removes a schedule with its waiting job; one that runs goes on
#[utoipa::path(delete, path = "/api/v1/schedules/{id}", tag = "schedules", operation_id = "remove_schedule",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    schedules::remove(state.context(), &who.actor(), id).await?;
    Ok(nothing())
}

/// Pauses a schedule
#[utoipa::path(post, path = "/api/v1/schedules/{id}/pause", tag = "schedules", operation_id = "pause_schedule",
    params(("id" = i64, Path)), responses((status = 200, body = Schedule)))]
pub(crate) async fn pause(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Schedule> {
    let paused = schedules::pause(state.context(), &who.actor(), id).await?;
    Ok(axum::Json(paused))
}

/// Resumes a schedule
#[utoipa::path(post, path = "/api/v1/schedules/{id}/resume", tag = "schedules", operation_id = "resume_schedule",
    params(("id" = i64, Path)), responses((status = 200, body = Schedule)))]
pub(crate) async fn resume(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Schedule> {
    let resumed = schedules::resume(state.context(), &who.actor(), id).await?;
    Ok(axum::Json(resumed))
}

/// Runs a schedule at once, also if it is paused or has ended
#[utoipa::path(post, path = "/api/v1/schedules/{id}/run", tag = "schedules", operation_id = "run_schedule",
    params(("id" = i64, Path)), responses((status = 200, body = StartedJob)))]
pub(crate) async fn run(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<StartedJob> {
    let job = schedules::run(state.context(), &who.actor(), id).await?;
    Ok(axum::Json(StartedJob { job: job.id }))
}

/// The next runs of a schedule that would be added now, and its frequency in words
#[utoipa::path(get, path = "/api/v1/schedules/runs", tag = "schedules", operation_id = "preview_schedule",
    params(Times), responses((status = 200, body = Runs)))]
pub(crate) async fn runs(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Times>,
) -> Reply<Runs> {
    let patch = SchedulePatch {
        frequency: Some(wanted.frequency),
        starts: wanted.starts,
        ends: wanted.ends,
        ..SchedulePatch::default()
    };
    let most = wanted.limit.unwrap_or(5).clamp(1, 100) as usize;
    let preview = schedules::preview_times(state.context(), &patch, most).await?;
    let unreadable = preview.mistakes.into_iter();
    let unreadable = unreadable.filter(|mistake| mistake.field == Some("frequency"));
    Refusal::unless_empty(unreadable.collect())?;
    Ok(axum::Json(Runs {
        described: preview.described.unwrap_or_default(),
        times: preview.times,
    }))
}

impl ScheduleBody {
    fn version(&self) -> Result<i64, Refusal> {
        let missing = || Mistake::new("version", "give the one that was seen");
        Ok(self.version.ok_or_else(missing)?)
    }

    fn read(self) -> Result<NewSchedule, Refusal> {
        let mut mistakes = Vec::new();
        let patch = SchedulePatch {
            name: self.name,
            metadata_prefix: self.metadata_prefix,
            set: self.set,
            frequency: self.frequency,
            starts: self.starts,
            ends: self.ends,
            harvest: read::<HarvestPatch>(self.parameters, &mut mistakes),
            import: read::<ImportPatch>(self.import, &mut mistakes),
        };
        Refusal::unless_empty(mistakes)?;
        Ok(NewSchedule {
            repository: self.repository,
            paused: self.paused,
            patch,
        })
    }
}

fn read<T: DeserializeOwned + Default>(
    settings: Option<Map<String, Value>>,
    mistakes: &mut Vec<Mistake>,
) -> Option<T> {
    let (patch, unread) = read_fields(settings?);
    mistakes.extend(unread);
    Some(patch)
}
