//! Runs: harvests, imports and other work, queued, running or over. A run is one job with its harvest or its import, or a
//! harvest or an import of a command.

mod acknowledge;
mod actions;
mod counts;
mod failures;
mod problems;
mod run;

use catalog::{JobKind, RunOrder, RunQuery};
use flows::Holdings;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub use self::acknowledge::{Acknowledged, acknowledge, unacknowledge};
pub use self::actions::{RetriedRuns, SkippedRun, again, remove, retry, retry_failed, stop};
pub use self::counts::{CountRole, RunCount};
pub(crate) use self::counts::{of_import as counts_of_import, settings as settings_in_words};
pub(crate) use self::failures::open_failures;
pub use self::failures::{FailureCause, FailureOfCause, FailuresByCause, failures, runs_of_cause};
pub use self::problems::{Problem, ProblemFilter, problems};
pub use self::run::{Run, RunState};
use crate::imports;
use crate::jobs::{self, LogLine};
use crate::sorting::named_order;
use crate::{Context, Listed, Refusal, Time, page_limit};

/// Which runs are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunFilter {
    /// Runs in this state, or in several: `failed,incomplete`.
    pub state: Option<String>,
    /// Runs of this kind, or of several: `harvest`, `import`, `hook`, `classify`, `quiet`.
    pub kind: Option<String>,
    /// Runs about one repository.
    pub repository: Option<i64>,
    /// Runs of one schedule.
    pub schedule: Option<i64>,
    /// Runs that began then or later.
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Time>,
    /// Runs that began then or earlier.
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// Runs with this text in their repository, their sources or the reason of their failure.
    pub text: Option<String>,
    /// Runs with a smaller number, for the next page. Not for runs that wait: these have `offset`.
    pub before: Option<i64>,
    /// The order: `title`, `started`, `took`, `due` or `attempt`. Without it the newest come first, and those that wait are
    /// in the order of their times.
    pub sort: Option<String>,
    /// Whether the largest come first in that order.
    pub descending: Option<bool>,
    /// Runs that are skipped, where there is an order or only those that wait are wanted.
    pub offset: Option<u64>,
    /// Whether the runs are counted, up to 10,000.
    pub count: Option<bool>,
    /// Runs on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

/// Two runs of the same beside one: the one before it and the one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Neighbours {
    /// The run before it.
    pub previous: Option<i64>,
    /// The run after it.
    pub next: Option<i64>,
}

/// Runs, the newest first. Where only those that wait are wanted, they are in the order of their times.
pub async fn list(context: &Context, filter: &RunFilter) -> Result<Listed<Run>, Refusal> {
    let limit = page_limit(filter.limit);
    let query = RunQuery {
        limit,
        ..filter.query()?
    };
    let (rows, mut next) = context.catalog().runs(&query).await?;
    if query.order.is_some() || query.states == [catalog::RunState::Queued] {
        let end = query.offset.saturating_add(rows.len() as u64);
        next = next.map(|_| end.cast_signed());
    }
    let (mut total, mut is_more) = (None, false);
    if filter.count == Some(true) {
        let query = RunQuery {
            before: None,
            ..query
        };
        let count = context.catalog().count_runs(&query, MAX_COUNT + 1).await?;
        (total, is_more) = (Some(count.min(MAX_COUNT)), count > MAX_COUNT);
    }
    Ok(Listed {
        next,
        total,
        is_more,
        ..Listed::all(run::described(context, rows).await?)
    })
}

/// One run.
pub async fn show(context: &Context, id: i64) -> Result<Run, Refusal> {
    let row = row(context, id).await?;
    let mut runs = run::described(context, vec![row]).await?;
    let mut run = runs.pop().ok_or_else(|| unknown(id))?;
    if let Some(import) = run.import.take() {
        let made = |holdings: &Holdings| imports::with_report(holdings, import);
        run.import = Some(context.blocking(made).await?);
    }
    Ok(run)
}

/// The runs of the same before and after one.
pub async fn neighbours(context: &Context, id: i64) -> Result<Neighbours, Refusal> {
    let row = row(context, id).await?;
    let [previous, next] = context.catalog().neighbours(&row).await?;
    Ok(Neighbours { previous, next })
}

/// The log of a run behind the line `after`, the oldest line first. Commands have none, and logs go with their jobs.
pub async fn log(
    context: &Context,
    id: i64,
    after: i64,
    limit: u64,
) -> Result<Listed<LogLine>, Refusal> {
    match row(context, id).await?.job {
        Some(job) => jobs::log(context, job.id, after, limit).await,
        None => Ok(Listed::page(Vec::<LogLine>::new(), limit, |line| line.id)),
    }
}

/// The number of the run that a harvest of the history belongs to.
pub async fn of_harvest(context: &Context, harvest: i64) -> Result<i64, Refusal> {
    let run = context.catalog().run_of_harvest(harvest).await?;
    run.ok_or_else(|| Refusal::not_found(format!("there is no harvest {harvest} in the history")))
}

/// The number of the run that an import of the history belongs to.
pub async fn of_import(context: &Context, import: i64) -> Result<i64, Refusal> {
    let run = context.catalog().run_of_import(import).await?;
    run.ok_or_else(|| Refusal::not_found(format!("there is no import {import} in the history")))
}

/// The row of a run, or of the one that resumed it.
async fn row(context: &Context, id: i64) -> Result<catalog::RunRow, Refusal> {
    let catalog = context.catalog();
    if let Some(row) = catalog.run(id).await? {
        return Ok(row);
    }
    let Some(later) = catalog.resumed_by(id).await? else {
        return Err(unknown(id));
    };
    catalog.run(later).await?.ok_or_else(|| unknown(id))
}

fn unknown(id: i64) -> Refusal {
    Refusal::not_found(format!("there is no run {id}"))
}

impl RunFilter {
    fn query(&self) -> Result<RunQuery, Refusal> {
        Ok(RunQuery {
            states: several("state", self.state.as_deref(), |word| {
                RunState::parse(word).map(Into::into)
            })?,
            kinds: several("kind", self.kind.as_deref(), JobKind::parse)?,
            repository: self.repository,
            schedule: self.schedule,
            since: self.since.map(|time| time.0),
            until: self.until.map(|time| time.0),
            text: self.text.clone().filter(|text| !text.trim().is_empty()),
            before: self.before,
            order: named_order(self.sort.as_deref(), &RunOrder::ALL, RunOrder::name)?,
            descending: self.descending.unwrap_or(false),
            offset: self.offset.unwrap_or(0),
            limit: page_limit(self.limit),
        })
    }
}

/// Words with commas between them.
fn several<T>(
    parameter: &'static str,
    words: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Refusal> {
    let words = words.unwrap_or_default().split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    let unknown = |word| Refusal::invalid(parameter, format!("there is no `{word}`"));
    words
        .map(|word| parse(word).ok_or_else(|| unknown(word)))
        .collect()
}

/// Runs are counted up to this number.
const MAX_COUNT: u64 = 10_000;
