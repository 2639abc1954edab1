//! `/api/v1/statistics`: what there is in all, and what came in over time.

use axum::extract::State;
use catalog::Bucket;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Listed, Reply, Time};
use crate::extract::Query;
use crate::state::ConsoleState;
use crate::who::Viewer;

/// What there is in all.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Statistics {
    repositories: u64,
    /// Records that are not deleted.
    records: u64,
    /// Records that are.
    deleted: u64,
    /// Records that cannot be found by their words, because their files could not be read.
    unread: u64,
    /// Bytes of the answers to all harvests of the history.
    bytes: u64,
    harvests: u64,
    jobs: JobNumbers,
    health: HealthNumbers,
}

/// How many jobs stand so.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobNumbers {
    scheduled: u64,
    running: u64,
    finished: u64,
    failed: u64,
    cancelled: u64,
}

/// How many repositories fare so, by their last harvests.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HealthNumbers {
    ok: u64,
    running: u64,
    incomplete: u64,
    failing: u64,
    never: u64,
}

/// Since when, and in which steps.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Parameters {
    /// Since when; since a day ago if that is not said.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
    /// How many seconds a step has; an hour if that is not said.
    #[param(minimum = 60)]
    step: Option<i64>,
}

/// What came in during a step.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BucketJson {
    from: Time,
    /// Records of the harvests that began in it, changed or not.
    records: u64,
    bytes: u64,
    harvests: u64,
    failed: u64,
}

/// What there is in all, and how repositories fare
#[utoipa::path(get, path = "/api/v1/statistics", tag = "statistics", operation_id = "statistics",
    responses((status = 200, body = Statistics)))]
pub(crate) async fn totals(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Statistics> {
    let totals = state.catalog().totals().await?;
    let health = state.catalog().health_counts().await?;
    Ok(axum::Json(Statistics {
        repositories: totals.repositories,
        records: totals.records,
        deleted: totals.deleted,
        unread: totals.unread,
        bytes: totals.bytes,
        harvests: totals.harvests,
        jobs: JobNumbers {
            scheduled: totals.jobs.scheduled,
            running: totals.jobs.running,
            finished: totals.jobs.finished,
            failed: totals.jobs.failed,
            cancelled: totals.jobs.cancelled,
        },
        health: HealthNumbers {
            ok: health.ok,
            running: health.running,
            incomplete: health.incomplete,
            failing: health.failing,
            never: health.never,
        },
    }))
}

/// What came in over time, in steps; of more than 2000 the last are given
#[utoipa::path(get, path = "/api/v1/statistics/activity", tag = "statistics", operation_id = "activity",
    params(Parameters), responses((status = 200, body = Listed<BucketJson>)))]
pub(crate) async fn activity(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Reply<Listed<BucketJson>> {
    let catalog = state.catalog();
    let since = match parameters.since {
        Some(Time(since)) => since,
        None => catalog.now().await? - A_DAY,
    };
    let step = parameters.step.unwrap_or(AN_HOUR).max(SHORTEST_STEP);
    let buckets = catalog.activity(since, step).await?;
    Ok(axum::Json(Listed::all(buckets)))
}

impl From<Bucket> for BucketJson {
    fn from(bucket: Bucket) -> Self {
        Self {
            from: Time(bucket.from),
            records: bucket.records,
            bytes: bucket.bytes,
            harvests: bucket.harvests,
            failed: bucket.failed,
        }
    }
}

const A_DAY: i64 = 86_400;
const AN_HOUR: i64 = 3600;
const SHORTEST_STEP: i64 = 60;
