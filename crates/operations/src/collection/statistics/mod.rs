//! Figures on everything that is held, and on harvests over time.

mod collection;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use self::collection::{
    CollectionFilter, CollectionStatistics, DocumentCount, collection, refresh,
};
use crate::{Context, Listed, Refusal, Time};

/// Figures on everything that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Statistics {
    /// Repositories.
    pub repositories: u64,
    /// Records that are not deleted.
    pub records: u64,
    /// Records that are deleted.
    pub deleted: u64,
    /// Records that cannot be found by their words, because their files could not be read.
    pub unread: u64,
    /// Bytes of the answers to all harvests of the history.
    pub bytes: u64,
    /// Harvests in the history.
    pub harvests: u64,
    /// Jobs by their state.
    pub jobs: JobCounts,
    /// Repositories by their health.
    pub health: HealthCounts,
}

/// Jobs by their state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[expect(missing_docs, reason = "the names are the states")]
pub struct JobCounts {
    pub scheduled: u64,
    pub running: u64,
    pub finished: u64,
    pub failed: u64,
    pub cancelled: u64,
}

/// Repositories by the outcome of their last harvests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[expect(missing_docs, reason = "the names are the outcomes")]
pub struct HealthCounts {
    pub ok: u64,
    pub running: u64,
    pub incomplete: u64,
    pub failing: u64,
    pub never: u64,
}

/// The span and the steps of the activity.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ActivityFilter {
    /// Since when; the default is a day ago.
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Time>,
    /// Seconds of a step; the default is an hour.
    #[param(minimum = 60)]
    pub step: Option<i64>,
    /// Seconds by which the clock of the steps is ahead of UTC, up to a day; the default is 0.
    #[param(minimum = -86400, maximum = 86400)]
    pub offset: Option<i64>,
}

/// The harvests that began in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Activity {
    /// When the step begins.
    pub from: Time,
    /// Records, changed or not.
    pub records: u64,
    /// Bytes.
    pub bytes: u64,
    /// Harvests.
    pub harvests: u64,
    /// Harvests that failed.
    pub failed: u64,
}

/// Figures on everything that is held.
pub async fn totals(context: &Context) -> Result<Statistics, Refusal> {
    let totals = context.catalog().totals().await?;
    let health = context.catalog().health_counts().await?;
    Ok(Statistics {
        repositories: totals.repositories,
        records: totals.records,
        deleted: totals.deleted,
        unread: totals.unread,
        bytes: totals.bytes,
        harvests: totals.harvests,
        jobs: JobCounts {
            scheduled: totals.jobs.scheduled,
            running: totals.jobs.running,
            finished: totals.jobs.finished,
            failed: totals.jobs.failed,
            cancelled: totals.jobs.cancelled,
        },
        health: HealthCounts {
            ok: health.ok,
            running: health.running,
            incomplete: health.incomplete,
            failing: health.failing,
            never: health.never,
        },
    })
}

/// Harvests over time; of more than 2000 steps the last ones.
pub async fn activity(
    context: &Context,
    filter: &ActivityFilter,
) -> Result<Listed<Activity>, Refusal> {
    let catalog = context.catalog();
    let since = match filter.since {
        Some(Time(since)) => since,
        None => catalog.now().await? - DAY,
    };
    let step = filter.step.unwrap_or(HOUR).max(MIN_STEP);
    let offset = filter.offset.unwrap_or(0).clamp(-DAY, DAY);
    Ok(Listed::all(catalog.activity(since, step, offset).await?))
}

impl From<catalog::Bucket> for Activity {
    fn from(bucket: catalog::Bucket) -> Self {
        Self {
            from: Time(bucket.from),
            records: bucket.records,
            bytes: bucket.bytes,
            harvests: bucket.harvests,
            failed: bucket.failed,
        }
    }
}

const DAY: i64 = 86_400;
const HOUR: i64 = 3600;
const MIN_STEP: i64 = 60;
