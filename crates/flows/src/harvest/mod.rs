//! The flow of a harvest: read, validate, filter, normalise, store, catalogue.

mod checkpoint;
pub(crate) mod digest;
mod job;
mod lease;
mod order;
mod pipeline;
mod pruning;
mod queue;
mod reading;
mod resources;
mod slices;
mod start;
mod storing;
mod treatment;
mod urls;
mod verification;
mod via;
mod work;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

use anyhow::{Context, anyhow, bail};
use catalog::{Counts, Finish, HistoryEntry, JobEnd, Run, State};
use harvester::{Client, ErrorKind, Incompatibility, Misbehaviour, Quirks};

pub use self::job::{Ended, HarvestJob, Verdict};
use self::lease::Lease;
use self::order::Parameters;
pub use self::order::{Deleted, HarvestOrder};
pub use self::pruning::{Rejected, count_rejected};
pub(crate) use self::resources::is_url;
use self::start::{Begun, begin};
pub(crate) use self::storing::UNFINISHED;
use self::treatment::Treatment;
pub use self::urls::write_urls;
pub use self::verification::{HarvestVerification, verify_harvested};
use self::via::{Source, describe};
pub use self::via::{Via, settle_way};
use self::work::Work;
use crate::{Failure, Holdings, SelfDescription, base_directory, introduce, message, mistake};

/// How far a harvest is, after each page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The slice that the page belongs to.
    pub slice: usize,
    /// How many records of the slice came so far.
    pub records: u64,
    /// How long the slice's list is, as far as the repository tells.
    pub complete_list_size: Option<u64>,
    /// Whether the page could not be read to its end.
    pub is_broken: bool,
    /// The counts so far, in all slices.
    pub counts: Counts,
}

/// Harvests a repository into the holdings and returns the entry of the history, also of a harvest that failed.
///
/// Whatever keeps it from being begun is an error: rules that cannot be read, a new repository that does not answer,
/// another process that harvests the same. An interrupted harvest resumes. `notify` gets the notes for a
/// person who waits for the end.
pub fn harvest(
    holdings: &Holdings,
    client: &Client,
    order: &HarvestOrder,
    notify: &dyn Fn(&str),
    progress: &dyn Fn(Progress),
) -> anyhow::Result<HistoryEntry> {
    harvest_for(holdings, client, order, None, notify, progress)
}

/// Harvests for a job, which ends together with the harvest.
///
/// A catalog that is away for a while and a job that is another's now are errors, and nothing is written about them: the
/// same call goes on from the last page that was committed.
pub fn harvest_for(
    holdings: &Holdings,
    client: &Client,
    order: &HarvestOrder,
    job: Option<&HarvestJob>,
    notify: &dyn Fn(&str),
    progress: &dyn Fn(Progress),
) -> anyhow::Result<HistoryEntry> {
    mistake::first(order.check())?;
    let order = match order.via {
        Via::Auto if job.is_some() => bail!("a job harvests one way; name it with via"),
        _ => &settle_way(client, order, notify)?,
    };
    let order = &order.placed(holdings.directory());
    let (filter, normalise) = order.rules(holdings)?;
    let rules = (filter.as_ref(), normalise.as_ref());
    let treatment = Treatment::load(order, rules)?;
    let remote = via::remote(client, order)?;
    let source = Source::find(client, order, notify)?;
    let parameters = Parameters::new(holdings, &remote, order, rules)?;
    let known = holdings.wait(holdings.catalog().repository_at(&remote.base_url()))?;
    let number = known.as_ref().map_or(0, |known| known.id);
    let writes_files = order.unpack.is_some() || order.warc.is_some();
    if writes_files || !holdings.are_records_shared(number)? {
        // The files would lie where nobody else who knows the catalog looks for them.
        let checked = holdings.check_place();
        checked.map_err(|error| Failure::new(Failure::OTHER_FILES, message(&error)))?;
    }
    let is_new = known.is_none();
    if let (Some(known), Some(directory)) = (&known, &order.base_directory) {
        base_directory::wanted(holdings, &known.base_url, directory)?;
    }
    let mut unanswered = Quirks::default();
    let repository = match known {
        Some(repository) => repository,
        // It was there when the job was made.
        None if job.is_some() => bail!("the repository of this job was removed"),
        None => {
            let description = match source.site() {
                Some(_) => describe(&remote, order.via),
                None => introduce(&remote).map_err(with_remedy)?,
            };
            unanswered.merge(description.quirks().clone());
            description.keep(holdings, order.base_directory.as_deref())?
        }
    };
    let traffic = client.traffic();
    let Begun {
        run,
        mut quirks,
        start,
    } = begin(holdings, order, &repository, &parameters, job, notify)?;
    quirks.merge(unanswered);

    let counted = run.counts();
    let lease = Lease::new(run);
    let work = Work {
        holdings,
        client,
        order,
        remote: &remote,
        source: &source,
        parameters: &parameters,
        repository: &repository,
        is_new,
        treatment: &treatment,
        lease: &lease,
        job,
        progress,
        notify,
    };
    // A bug that one record brings to light must not leave the harvest without an end.
    let worked = catch_unwind(AssertUnwindSafe(|| work.run(start, quirks)))
        .unwrap_or_else(|panic| Err(anyhow!("a bug in garner: {}", panic_message(&*panic))));
    let run = lease.into_run();
    let now = client.traffic();
    let uncounted = Counts {
        requests: (now.requests - traffic.requests)
            .saturating_sub(run.counts().requests - counted.requests),
        bytes: (now.bytes - traffic.bytes).saturating_sub(run.counts().bytes - counted.bytes),
        ..Counts::default()
    };
    finish(holdings, order, job, run, worked, uncounted)
}

/// Asks the source of an order about itself, for a catalog that does not know it yet.
pub fn introduce_for(client: &Client, order: &HarvestOrder) -> anyhow::Result<SelfDescription> {
    let remote = via::remote(client, order)?;
    match Source::find(client, order, &|_| {})?.site() {
        Some(_) => Ok(describe(&remote, order.via)),
        None => introduce(&remote),
    }
}

/// The error of something that is no repository, with what may be tried instead.
fn with_remedy(error: anyhow::Error) -> anyhow::Error {
    let kind = error
        .downcast_ref::<harvester::Error>()
        .map(|error| error.kind());
    let is_other = match kind {
        Some(ErrorKind::RepositoryMisbehaved(misbehaviour)) => matches!(
            misbehaviour,
            Misbehaviour::WebPage | Misbehaviour::NotXml(_) | Misbehaviour::NotOaiPmh(_)
        ),
        Some(ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(404 | 410))) => true,
        _ => false,
    };
    match is_other {
        true => error.context("no OAI-PMH repository answers here; --via auto looks for other ways to harvest the site"),
        false => error,
    }
}

/// Writes down how the harvest ended. `uncounted` are requests that no page came of, which only matter if it failed.
fn finish(
    holdings: &Holdings,
    order: &HarvestOrder,
    job: Option<&HarvestJob>,
    run: Run,
    worked: anyhow::Result<Option<String>>,
    uncounted: Counts,
) -> anyhow::Result<HistoryEntry> {
    let counts = run.counts();
    let left_out = counts.skipped + counts.failed;
    let (state, reason, next_from, error) = match worked {
        Ok(next_from) if left_out == 0 => (State::Ok, None, next_from, None),
        Ok(next_from) => {
            let reason = match left_out {
                1 => "1 record or resource was skipped or failed".to_owned(),
                _ => format!("{left_out} records or resources were skipped or failed"),
            };
            (State::Incomplete, Some(reason), next_from, None)
        }
        Err(error) if job.is_some() && is_away(&error) => return Err(error),
        Err(error) => (State::Failed, Some(message(&error)), None, Some(error)),
    };
    let verdict = job.map(|job| {
        (job.decide)(&Ended {
            harvest: Some(run.id()),
            state,
            reason: reason.as_deref(),
            error: error.as_ref(),
            counts,
        })
    });
    let (end, decided, follow_ups) = match verdict {
        Some(verdict) => (Some(verdict.end), verdict.reason, verdict.follow_ups),
        None => (None, None, Vec::new()),
    };
    let state = match (&end, &error) {
        (Some(JobEnd::Cancelled), Some(_)) => State::Cancelled,
        (None, Some(error)) if is_stopped(error) => State::Cancelled,
        _ => state,
    };
    // A harvest bounded by dates says nothing about the rest.
    let is_whole = order.from.is_none() && order.until.is_none();
    let finish = Finish {
        state,
        reason: decided.or(reason),
        next_from: next_from.filter(|_| is_whole),
        quirks: None,
        counts: match error {
            Some(_) => uncounted,
            None => Counts::default(),
        },
        job: end,
        follow_ups,
    };
    let finished = holdings.wait(holdings.catalog().finish(run, &finish));
    finished.with_context(|| unwritten(error.as_ref()))
}

/// The message if the end of a harvest cannot be written down, which must not hide why it came to it.
fn unwritten(error: Option<&anyhow::Error>) -> String {
    let why = error.map(|error| format!("the harvest failed: {}; and ", message(error)));
    format!(
        "{}the end of the harvest cannot be written down; what was committed is safe, and the same command resumes there",
        why.unwrap_or_default()
    )
}

/// Whether the catalog cannot be reached for the moment, so that waiting helps.
pub fn is_away(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| {
        let error = cause.downcast_ref::<catalog::Error>();
        error.is_some_and(catalog::Error::is_transient)
    })
}

/// Whether somebody wanted it to stop.
fn is_stopped(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| {
        let error = cause.downcast_ref::<harvester::Error>();
        error.is_some_and(|error| *error.kind() == ErrorKind::Stopped)
    })
}

/// The message of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it panicked")
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}
