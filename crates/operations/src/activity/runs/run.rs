//! A run as the command line, the API and pages show it.

use catalog::{JobKind, RunRow};
use flows::{Holdings, ImportOrder};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::counts::{RunCount, of_harvest, of_import};
use crate::CleanOrder;
use crate::harvests::Harvest;
use crate::imports::{self, Import};
use crate::jobs::{Job, Why, explained};
use crate::mirrored::mirrored;
use crate::{Context, Refusal, Time};

/// A run: a harvest, an import or other work, queued, running or over.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Run {
    /// Its number: that of its job, if it has one.
    pub id: i64,
    /// `harvest`, `import`, `classify`, `clean`, `retrieve`, `feed`, `hook` or `quiet`.
    #[schema(value_type = String, example = "harvest")]
    pub kind: JobKind,
    /// Its state.
    pub state: RunState,
    /// The name of the repository, or the sources of an import.
    pub title: String,
    /// The action, in words.
    pub what: String,
    /// Why it waits, what it does, or why it did not come to its end.
    pub reason: Option<String>,
    /// The reason of a run that waits or runs, for programs.
    pub why: Option<Why>,
    /// The number of its repository.
    pub repository: Option<i64>,
    /// The base URL of its repository.
    pub base_url: Option<String>,
    /// The number of its schedule.
    pub schedule: Option<i64>,
    /// When it was or is due, if it has a job.
    pub due: Option<Time>,
    /// When it began, the last time.
    pub started: Option<Time>,
    /// When it was over.
    pub ended: Option<Time>,
    /// Records so far for a harvest, bytes for an import, documents for a classification.
    pub done: u64,
    /// Records, bytes or documents in all, if that is known.
    pub total: Option<u64>,
    /// The funnel of records or captures, in words.
    pub counts: Vec<RunCount>,
    /// Its job; commands have none, and it is removed long after it is over.
    pub job: Option<Job>,
    /// Its harvest, the last one if it was tried several times.
    pub harvest: Option<Harvest>,
    /// Its import, the last one if it was tried several times.
    pub import: Option<Import>,
}

mirrored! {
    /// The state of a run.
    RunState = RunState {
        /// It has not begun, or was put back into the queue.
        Queued = "queued",
        /// It runs.
        Running = "running",
        /// It is done.
        Ok = "ok",
        /// It reached its end, but something was skipped or failed.
        Incomplete = "incomplete",
        /// It did not reach its end.
        Failed = "failed",
        /// Somebody withdrew or stopped it.
        Cancelled = "cancelled",
    }
}

/// Runs with everything that is known of them.
pub(super) async fn described(context: &Context, rows: Vec<RunRow>) -> Result<Vec<Run>, Refusal> {
    let jobs = rows.iter().filter_map(|row| row.job.clone()).collect();
    let mut jobs = explained(context, jobs).await?;
    let describe = move |holdings: &Holdings| {
        let mut runs = Vec::with_capacity(rows.len());
        for row in rows {
            let at = jobs.iter().position(|job| job.id == row.id);
            let job = at.map(|at| jobs.swap_remove(at));
            runs.push(run(holdings, row, job)?);
        }
        Ok(runs)
    };
    context.blocking(describe).await
}

fn run(holdings: &Holdings, row: RunRow, job: Option<Job>) -> anyhow::Result<Run> {
    let (id, kind, state) = (row.id, row.kind(), RunState::from(row.state()));
    let harvest = row.harvest.map(Harvest::from);
    let import = row.import.map(|entry| imports::import(holdings, entry));
    let import = import.transpose()?;
    let job = job.as_ref();
    let failure = match (&harvest, &import) {
        (Some(harvest), _) => harvest.failure_reason.clone(),
        (None, Some(import)) => import.reason.clone(),
        (None, None) => None,
    };
    let error = job.and_then(|job| job.error.clone());
    let why = job.and_then(|job| job.why.clone());
    let reason = match state {
        RunState::Queued | RunState::Running => why.as_ref().map(|why| why.text.clone()),
        RunState::Ok if import.as_ref().is_some_and(|import| import.kept_nothing) => {
            failure.or_else(|| Some("nothing was kept".to_owned()))
        }
        RunState::Ok => None,
        RunState::Failed => error.or(failure),
        RunState::Incomplete | RunState::Cancelled => failure.or(error),
    };
    let (counts, records) = match (&harvest, &import) {
        (Some(harvest), _) => (
            of_harvest(&harvest.counts, reads_lists(harvest)),
            records(harvest),
        ),
        (None, Some(import)) => (of_import(&import.counters), import.counters.bytes_read),
        (None, None) => (Vec::new(), 0),
    };
    let began = harvest
        .as_ref()
        .map(|harvest| (harvest.started, harvest.ended));
    let began = began.or(import.as_ref().map(|import| (import.started, import.ended)));
    Ok(Run {
        id,
        kind,
        state,
        title: title(kind, job, harvest.as_ref(), import.as_ref()),
        what: what(kind, job, harvest.as_ref()),
        reason,
        why,
        repository: harvest
            .as_ref()
            .map(|it| it.repository)
            .or(job.and_then(|job| job.repository)),
        base_url: (harvest.as_ref().map(|it| it.base_url.clone()))
            .or(job.and_then(|job| job.base_url.clone())),
        schedule: job.and_then(|job| job.schedule),
        due: job.map(|job| job.run_at),
        started: job.map_or(began.map(|(started, _)| started), |job| job.started),
        ended: job.map_or(began.and_then(|(_, ended)| ended), |job| job.finished),
        done: job.map_or(records, |job| job.done),
        total: job.and_then(|job| job.total),
        counts,
        job: job.cloned(),
        harvest,
        import,
    })
}

impl Run {
    /// How long it runs or ran, in seconds, as of `now`.
    pub fn seconds(&self, now: i64) -> Option<i64> {
        let end = match self.state {
            RunState::Queued => return None,
            RunState::Running => now,
            _ => self.ended?.0,
        };
        Some((end - self.started?.0).max(0))
    }

    /// How long it may still take, in seconds, if it goes on as it did.
    pub fn seconds_left(&self, now: i64) -> Option<i64> {
        let seconds = self.seconds(now).filter(|seconds| *seconds >= SOON)?;
        let total = self.total.filter(|total| *total > self.done)?;
        if self.state != RunState::Running || self.done == 0 {
            return None;
        }
        let left = seconds as f64 * (total - self.done) as f64 / self.done as f64;
        Some(left as i64)
    }

    /// Its settings, as pairs of name and value for people.
    pub fn settings_in_words(&self) -> Vec<(String, String)> {
        let parameters = match (&self.harvest, &self.import, &self.job) {
            (Some(harvest), ..) => &harvest.parameters,
            (None, Some(import), _) => &import.parameters,
            (None, None, Some(job)) => &job.parameters,
            (None, None, None) => return Vec::new(),
        };
        super::counts::settings(parameters)
    }

    /// Whether it is an import that came to its end and kept no document.
    pub fn kept_nothing(&self) -> bool {
        self.import
            .as_ref()
            .is_some_and(|import| import.kept_nothing)
    }

    /// Whether it can be stopped, or withdrawn from the queue, from here.
    pub fn can_stop(&self) -> bool {
        !self.state.is_over() && self.job.is_some()
    }

    /// Whether it can be retried under its own number.
    pub fn can_retry(&self) -> bool {
        let is_over = matches!(self.state, RunState::Failed | RunState::Cancelled);
        is_over && self.job.is_some() && self.kind != JobKind::Quiet
    }

    /// Whether the same can be run again, as a new run.
    pub fn can_run_again(&self) -> bool {
        let is_work = matches!(
            self.kind,
            JobKind::Harvest | JobKind::Import | JobKind::Classify
        );
        self.state.is_over() && is_work
    }
}

impl RunState {
    /// Whether nothing more happens to it by itself.
    pub fn is_over(self) -> bool {
        catalog::RunState::from(self).is_over()
    }
}

/// Whether a harvest read the lists of a site: then rules of crawlers skip resources, and no filter.
fn reads_lists(harvest: &Harvest) -> bool {
    let via = harvest.parameters.get("via").and_then(Value::as_str);
    matches!(via, Some("sitemap" | "resourcesync"))
}

fn records(harvest: &Harvest) -> u64 {
    let counts = &harvest.counts;
    counts.new
        + counts.updated
        + counts.unchanged
        + counts.deleted
        + counts.filtered
        + counts.skipped
        + counts.failed
}

fn title(
    kind: JobKind,
    job: Option<&Job>,
    harvest: Option<&Harvest>,
    import: Option<&Import>,
) -> String {
    let named = job.and_then(|job| {
        let name = job.repository_name.clone().filter(|name| !name.is_empty());
        name.or(job.base_url.clone())
    });
    let named = named.or(harvest.map(|harvest| harvest.base_url.clone()));
    let sources = || {
        import
            .map(Import::sources_in_words)
            .filter(|text| !text.is_empty())
    };
    let ordered = || job.and_then(|job| sources_of(&job.parameters));
    named.or_else(sources).or_else(ordered).unwrap_or_else(|| {
        let words = match kind {
            JobKind::Harvest => "a repository that was removed",
            JobKind::Hook => "hook",
            JobKind::Import => "import",
            JobKind::Classify => "collection",
            JobKind::Retrieve => "documents",
            JobKind::Feed => "search engine",
            JobKind::Clean => "collection",
            JobKind::Quiet => "quiet time",
        };
        words.to_owned()
    })
}

/// The sources of an import that has not begun, for people.
fn sources_of(parameters: &Value) -> Option<String> {
    let order = ImportOrder::parse(&parameters.to_string()).ok()?;
    let mut named = order.paths.iter().chain(&order.log);
    let first = named.next()?.display().to_string();
    Some(match named.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    })
}

fn what(kind: JobKind, job: Option<&Job>, harvest: Option<&Harvest>) -> String {
    let target = harvest.map(|it| (it.metadata_prefix.as_str(), it.set.as_deref()));
    let target = target.or(job.map(|it| (it.metadata_prefix.as_str(), it.set.as_deref())));
    match (kind, target) {
        (JobKind::Harvest, Some((prefix, Some(set)))) => format!("Harvest of {prefix}, set {set}"),
        (JobKind::Harvest, Some((prefix, None))) => format!("Harvest of {prefix}"),
        (JobKind::Harvest, None) => "Harvest".to_owned(),
        (JobKind::Hook, _) => "Hook after a harvest".to_owned(),
        (JobKind::Import, _) => "Import".to_owned(),
        (JobKind::Classify, _) => "Classification of all documents".to_owned(),
        (JobKind::Retrieve, _) => "Retrieval of documents".to_owned(),
        (JobKind::Feed, _) => "Changes for a search engine".to_owned(),
        (JobKind::Clean, _) => {
            let order = job.map(|job| job.parameters.to_string());
            match order.and_then(|order| CleanOrder::parse(&order).ok()) {
                Some(CleanOrder::Documents(_)) => "Cleaning of documents".to_owned(),
                Some(CleanOrder::Parents(_)) => "Cleaning of parents".to_owned(),
                None => "Cleaning".to_owned(),
            }
        }
        (JobKind::Quiet, _) => {
            let why = job.and_then(|job| job.parameters["why"].as_str());
            match why.filter(|why| !why.is_empty()) {
                Some(why) => format!("Quiet time: {why}"),
                None => "Quiet time".to_owned(),
            }
        }
    }
}

/// Less elapsed time than this gives no estimate of the rest.
const SOON: i64 = 3;
