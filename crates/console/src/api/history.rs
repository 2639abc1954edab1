//! `/api/v1/history`: harvests, what they did and what they met.

use axum::extract::State;
use axum::response::Response;
use catalog::{Counts, HistoryEntry, HistoryQuery, State as HarvestState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{Listed, Reply, Time, limited, nothing};
use crate::extract::{Json, Path, Query};
use crate::history::{self, Comparison};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// How a harvest stands.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HarvestStateName {
    /// It has begun and not ended, or its process was killed.
    Running,
    /// Everything was harvested.
    Ok,
    /// It came to its end, but something had to be left out.
    Incomplete,
    /// It did not come to its end.
    Failed,
    /// Somebody ended it before its end.
    Cancelled,
}

/// Which harvests are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Those of one repository.
    repository: Option<i64>,
    /// Those that stand so.
    state: Option<HarvestStateName>,
    /// Those that began then or later.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
    /// Those that began then or earlier.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Time>,
    /// Those with this text in their reason.
    text: Option<String>,
    /// Those of one schedule.
    schedule: Option<i64>,
    /// Those of one job.
    job: Option<i64>,
    /// Those with a smaller number, for the next page.
    before: Option<i64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// A harvest.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HarvestJson {
    id: i64,
    repository: i64,
    base_url: String,
    metadata_prefix: String,
    set: Option<String>,
    state: HarvestStateName,
    started: Time,
    ended: Option<Time>,
    /// How often it was begun: more than once if it was gone on with.
    attempts: i64,
    /// The process that has it, or had it last, in words.
    worker: String,
    job: Option<i64>,
    schedule: Option<i64>,
    counts: CountsJson,
    /// The `from` of the next harvest.
    next_from: Option<String>,
    /// Why it failed or what was left out.
    failure_reason: Option<String>,
    /// What it was begun with.
    #[schema(value_type = Object)]
    parameters: Value,
    /// The oddities of the repository that were tolerated.
    quirks: Vec<QuirkJson>,
}

/// What was counted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HarvestCounts)]
pub(crate) struct CountsJson {
    new: u64,
    updated: u64,
    unchanged: u64,
    deleted: u64,
    filtered: u64,
    repaired: u64,
    skipped: u64,
    failed: u64,
    requests: u64,
    bytes: u64,
}

/// An oddity of a repository.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuirkJson {
    /// The oddity in a sentence.
    sentence: &'static str,
    /// How often it was met.
    count: u64,
}

/// Which warnings are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedWarnings {
    /// Those with a larger number, for the next page: what `next` says.
    after: Option<i64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// Something that was left out or mended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WarningJson {
    id: i64,
    /// Of which record, if that is known.
    identifier: Option<String>,
    reason: String,
    /// Whether something could not be had, and may be another time.
    lost: bool,
}

/// Which harvests are compared.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Pair {
    /// The number of one.
    one: i64,
    /// The number of the other.
    other: i64,
}

/// Two harvests side by side.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComparisonJson {
    one: HarvestJson,
    other: HarvestJson,
    counts: Vec<LineJson>,
    /// Those parameters that differ.
    parameters: Vec<LineJson>,
    quirks: Vec<LineJson>,
}

/// What one and the other have.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LineJson {
    name: String,
    one: String,
    other: String,
    /// How much more the other has, for numbers.
    change: Option<i64>,
}

/// Which old entries are removed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Old {
    /// Those that are over for more than so many days.
    #[schema(minimum = 1, maximum = 36500)]
    older_than_days: u32,
}

/// How many were removed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Removed {
    removed: u64,
}

/// Harvests, the newest first
#[utoipa::path(get, path = "/api/v1/history", tag = "history", operation_id = "list_history",
    params(Wanted), responses((status = 200, body = Listed<HarvestJson>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Reply<Listed<HarvestJson>> {
    let limit = limited(wanted.limit);
    let entries = state.catalog().history(&wanted.query(limit + 1)).await?;
    Ok(axum::Json(Listed::page(entries, limit, |entry| entry.id)))
}

/// Harvests as CSV, all of them whatever `before` and `limit` say
#[utoipa::path(get, path = "/api/v1/history.csv", tag = "history", operation_id = "download_history",
    params(Wanted), responses((status = 200, content_type = "text/csv", body = String)))]
pub(crate) async fn csv(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    Ok(history::csv(&state, wanted.query(1)))
}

/// A harvest
#[utoipa::path(get, path = "/api/v1/history/{id}", tag = "history", operation_id = "show_harvest",
    params(("id" = i64, Path)), responses((status = 200, body = HarvestJson)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<HarvestJson> {
    Ok(axum::Json(history::entry(&state, id).await?.into()))
}

/// What a harvest left out or mended
#[utoipa::path(get, path = "/api/v1/history/{id}/warnings", tag = "history", operation_id = "list_warnings",
    params(("id" = i64, Path), WantedWarnings), responses((status = 200, body = Listed<WarningJson>)))]
pub(crate) async fn warnings(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(wanted): Query<WantedWarnings>,
) -> Reply<Listed<WarningJson>> {
    history::entry(&state, id).await?;
    let (after, limit) = (wanted.after.unwrap_or(0), limited(wanted.limit));
    let rows = state.catalog().warnings_after(id, after, limit + 1).await?;
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(id, warning)| WarningJson {
            id,
            identifier: warning.identifier,
            reason: warning.reason,
            lost: warning.lost,
        })
        .collect();
    Ok(axum::Json(Listed::page(
        rows,
        limit,
        |row: &WarningJson| row.id,
    )))
}

/// Two harvests side by side
#[utoipa::path(get, path = "/api/v1/history/compare", tag = "history", operation_id = "compare_harvests",
    params(Pair), responses((status = 200, body = ComparisonJson)))]
pub(crate) async fn compare(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(pair): Query<Pair>,
) -> Reply<ComparisonJson> {
    let one = history::entry(&state, pair.one).await?;
    let other = history::entry(&state, pair.other).await?;
    let Comparison {
        counts,
        parameters,
        quirks,
    } = Comparison::new(&one, &other);
    let lines = |lines: Vec<history::Line>| lines.into_iter().map(LineJson::from).collect();
    Ok(axum::Json(ComparisonJson {
        one: one.into(),
        other: other.into(),
        counts: lines(counts),
        parameters: lines(parameters),
        quirks: lines(quirks),
    }))
}

/// Removes an entry of the history that is not running; records stay
#[utoipa::path(delete, path = "/api/v1/history/{id}", tag = "history", operation_id = "remove_harvest",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    history::entry(&state, id).await?;
    match history::remove(&state, &who, &[id]).await? {
        0 => Err(Problem::conflict(format!(
            "harvest {id} runs; stop it first"
        ))),
        _ => Ok(nothing()),
    }
}

/// Removes old entries, but for those that the next harvests build upon
#[utoipa::path(post, path = "/api/v1/history/remove", tag = "history", operation_id = "remove_old_history",
    request_body = Old, responses((status = 200, body = Removed)))]
pub(crate) async fn remove_old(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(old): Json<Old>,
) -> Reply<Removed> {
    if !(1..=36_500).contains(&old.older_than_days) {
        return Err(Problem::invalid(
            "older_than_days: give a number from 1 to 36500",
        ));
    }
    let removed = history::remove_old(&state, &who, old.older_than_days).await?;
    Ok(axum::Json(Removed { removed }))
}

impl Wanted {
    fn query(self, limit: u64) -> HistoryQuery {
        HistoryQuery {
            repository: self.repository,
            state: self.state.map(Into::into),
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            text: self.text.filter(|text| !text.is_empty()),
            schedule: self.schedule,
            job: self.job,
            before: self.before,
            limit,
        }
    }
}

impl From<HistoryEntry> for HarvestJson {
    fn from(entry: HistoryEntry) -> Self {
        let quirks = history::quirks(entry.quirks.as_deref()).into_iter();
        Self {
            id: entry.id,
            repository: entry.repository,
            base_url: entry.base_url,
            metadata_prefix: entry.metadata_prefix,
            set: entry.set,
            state: entry.state.into(),
            started: Time(entry.started),
            ended: entry.ended.map(Time),
            attempts: entry.attempts,
            worker: entry.worker,
            job: entry.job,
            schedule: entry.schedule,
            counts: entry.counts.into(),
            next_from: entry.next_from,
            failure_reason: entry.failure_reason,
            parameters: serde_json::from_str(&entry.parameters).unwrap_or_default(),
            quirks: quirks
                .map(|(sentence, count)| QuirkJson { sentence, count })
                .collect(),
        }
    }
}

impl From<Counts> for CountsJson {
    fn from(counts: Counts) -> Self {
        Self {
            new: counts.new,
            updated: counts.updated,
            unchanged: counts.unchanged,
            deleted: counts.deleted,
            filtered: counts.filtered,
            repaired: counts.repaired,
            skipped: counts.skipped,
            failed: counts.failed,
            requests: counts.requests,
            bytes: counts.bytes,
        }
    }
}

impl From<history::Line> for LineJson {
    fn from(line: history::Line) -> Self {
        Self {
            name: line.name,
            one: line.one,
            other: line.other,
            change: line.change,
        }
    }
}

impl From<HarvestState> for HarvestStateName {
    fn from(state: HarvestState) -> Self {
        match state {
            HarvestState::Running => Self::Running,
            HarvestState::Ok => Self::Ok,
            HarvestState::Incomplete => Self::Incomplete,
            HarvestState::Failed => Self::Failed,
            HarvestState::Cancelled => Self::Cancelled,
        }
    }
}

impl From<HarvestStateName> for HarvestState {
    fn from(state: HarvestStateName) -> Self {
        match state {
            HarvestStateName::Running => Self::Running,
            HarvestStateName::Ok => Self::Ok,
            HarvestStateName::Incomplete => Self::Incomplete,
            HarvestStateName::Failed => Self::Failed,
            HarvestStateName::Cancelled => Self::Cancelled,
        }
    }
}
