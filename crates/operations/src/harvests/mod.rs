//! Harvests: the history, the warnings of a harvest, two harvests side by side, and removal.

mod compare;
mod csv;
mod harvest;
mod remove;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use self::compare::{Comparison, ComparisonLine, compare};
pub use self::csv::{CSV_HEAD, csv_line};
pub use self::harvest::{Harvest, HarvestCounts, HarvestState, QuirkCount};
pub use self::remove::{RemoveOld, Removed, is_needed, remove, remove_old};

pub(crate) use self::harvest::parameters;
pub(crate) use self::remove::days;

use crate::{Context, Listed, Refusal, Time, page_limit};

/// Which harvests are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HarvestFilter {
    /// Harvests of one repository.
    pub repository: Option<i64>,
    /// Harvests in this state.
    pub state: Option<HarvestState>,
    /// Harvests that began then or later.
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Time>,
    /// Harvests that began then or earlier.
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Harvests with this text in their reason.
    pub text: Option<String>,
    /// Harvests of one schedule.
    pub schedule: Option<i64>,
    /// Harvests of one job.
    pub job: Option<i64>,
    /// Harvests with a smaller number, for the next page.
    pub before: Option<i64>,
    /// Harvests on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

/// Which warnings of a harvest are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WarningFilter {
    /// Warnings with a larger number, for the next page: the `next` of this one.
    pub after: Option<i64>,
    /// Warnings on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

/// A record that was skipped or repaired, or that could not be obtained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Warning {
    /// Its number.
    pub id: i64,
    /// The record, if it is known.
    pub identifier: Option<String>,
    /// The event, in words.
    pub reason: String,
    /// Whether the record could not be obtained; the next harvest asks for it again.
    pub lost: bool,
}

/// Harvests, the newest first.
pub async fn list(context: &Context, filter: &HarvestFilter) -> Result<Listed<Harvest>, Refusal> {
    let limit = page_limit(filter.limit);
    let entries = context.catalog().history(&filter.query(limit + 1)).await?;
    Ok(Listed::page(entries, limit, |entry| entry.id))
}

/// One harvest.
pub async fn show(context: &Context, id: i64) -> Result<Harvest, Refusal> {
    let entry = context.catalog().history_entry(id).await?;
    let missing = || Refusal::not_found(format!("there is no harvest {id} in the history"));
    entry.map(Harvest::from).ok_or_else(missing)
}

/// The warnings of a harvest, in the order of their numbers.
pub async fn warnings(
    context: &Context,
    id: i64,
    filter: &WarningFilter,
) -> Result<Listed<Warning>, Refusal> {
    show(context, id).await?;
    let (after, limit) = (filter.after.unwrap_or(0), page_limit(filter.limit));
    let rows = context.catalog().warnings_after(id, after, limit + 1);
    Ok(Listed::page(rows.await?, limit, |(id, _)| *id))
}

impl HarvestFilter {
    fn query(&self, limit: u64) -> catalog::HistoryQuery {
        catalog::HistoryQuery {
            repository: self.repository,
            state: self.state.map(Into::into),
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            text: self.text.clone().filter(|text| !text.is_empty()),
            schedule: self.schedule,
            job: self.job,
            before: self.before,
            limit,
        }
    }
}

impl From<(i64, catalog::Warning)> for Warning {
    fn from((id, warning): (i64, catalog::Warning)) -> Self {
        Self {
            id,
            identifier: warning.identifier,
            reason: warning.reason,
            lost: warning.lost,
        }
    }
}
