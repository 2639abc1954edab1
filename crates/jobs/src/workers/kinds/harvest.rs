//! A harvest that is done for a job.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::Context;
use catalog::Error::Busy;
use catalog::{Counts, HistoryEntry, JobEnd, JobKind, LogLevel, NewJob, State};
use flows::{Ended, HarvestJob, Verdict, harvest_for};
use flows::{Failure, HarvestOrder, Progress, count_rejected, is_failure, message};
use harvester::{Client, ClientEvent, ErrorKind, Listener};

use super::super::log::Log;
use super::super::work::{Work, finally, is};
use super::hook::hook_jobs;
use super::{Job, Ran};

pub(super) struct Harvest;

impl Job for Harvest {
    fn kind(&self) -> JobKind {
        JobKind::Harvest
    }

    fn run(&self, work: &Work<'_>) -> anyhow::Result<Ran> {
        let (order, client) = match work.insist(|| prepare(work)) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Ran::Ends(finally(&error))),
        };
        let running = work.running;
        running.expect(usize::from(order.slices));
        let decided = RefCell::new(None);
        let decide = |ended: &Ended| {
            let is_done = matches!(ended.state, State::Ok | State::Incomplete);
            let (end, reason) = work.verdict(self, is_done, ended.error, CANCELLED);
            // The last word counts: if the catalog is away, the harvest ends once more.
            decided.replace(Some(end.clone()));
            Verdict {
                follow_ups: match is_over(&end) {
                    true => hook_jobs(work, ended),
                    false => Vec::new(),
                },
                end,
                reason,
            }
        };
        let job = HarvestJob {
            lease: work.claim.lease(),
            pulse: &running.pulse,
            decide: &decide,
        };
        let told = |news: &str| work.log.info(news);
        log_rejected(work, &order);
        let progress = |progress: Progress| running.advance(&progress);
        // While the catalog is away the harvest waits, and resumes from the last page that is in it.
        let harvested = work.insist(|| {
            let holdings = work.holdings();
            harvest_for(holdings, &client, &order, Some(&job), &told, &progress)
        });
        let entry = match harvested {
            // It has not begun: rules that cannot be used stay so.
            Err(error) if is_failure(&error, Failure::OTHER_FILES) => return Err(error),
            Err(error) if !is(&error, |_| true) => return Ok(Ran::Ends(finally(&error))),
            harvested => harvested?,
        };
        log_end(work, &entry);
        work.shared.index_later(entry.id);
        let end = decided.into_inner();
        Ok(Ran::Ended(end))
    }

    fn decide(&self, work: &Work<'_>, error: &anyhow::Error) -> JobEnd {
        // Somebody harvests the repository by hand, and began between the claim and this.
        if is(error, |error| matches!(error, Busy { .. })) {
            work.log.info(&format!("waiting: {error}"));
            return JobEnd::GivenBack;
        }
        // Another worker has the directory of its files. This one asks again in a minute, too.
        if is_failure(error, Failure::OTHER_FILES) {
            if work.shared.refuse(work.claim.job.id) {
                work.log.info(&message(error));
            }
            return JobEnd::GivenBack;
        }
        match asked_to_wait(error) {
            Some(wait) => JobEnd::PutOff {
                wait,
                reason: message(error),
            },
            None => work.failed(error),
        }
    }

    /// Hooks hear of a harvest that failed without an entry in the history, or beside it.
    fn follow_ups(&self, work: &Work<'_>, end: &JobEnd) -> Vec<NewJob> {
        let JobEnd::Failed {
            reason,
            retry_in: None,
        } = end
        else {
            return Vec::new();
        };
        let ended = Ended {
            harvest: work.claim.job.harvest,
            state: State::Failed,
            reason: Some(reason),
            error: None,
            counts: Counts::default(),
        };
        hook_jobs(work, &ended)
    }
}

/// Whether a job that ends so is not run again.
fn is_over(end: &JobEnd) -> bool {
    match end {
        JobEnd::Finished => true,
        JobEnd::Failed { retry_in, .. } => retry_in.is_none(),
        JobEnd::Cancelled | JobEnd::GivenBack | JobEnd::PutOff { .. } => false,
    }
}

/// The order of the harvest and the client that makes its requests.
fn prepare(work: &Work<'_>) -> anyhow::Result<(HarvestOrder, Client)> {
    let job = &work.claim.job;
    let base_url = job.base_url.as_deref();
    let base_url = base_url.context("the repository of this job was removed")?;
    let order = HarvestOrder::parse(&job.parameters)?;
    let order = order.of(base_url, &job.metadata_prefix, job.set.as_deref());
    let mut options = order.client_options(work.holdings(), &work.options().client)?;
    options.stop = work.running.stop.clone();
    let (holdings, id) = (Arc::clone(&work.shared.holdings), job.id);
    let running = Arc::clone(work.running);
    let written = AtomicU64::new(0);
    options.listener = Listener::new(move |event| {
        running.hear(event);
        if let Some((level, line)) = line(event) {
            Log::new(&holdings, id).event(&written, level, &line);
        }
    });
    Ok((order, Client::new(options)?))
}

/// The line of the log about an event, if it is worth one.
fn line(event: &ClientEvent) -> Option<(LogLevel, String)> {
    Some(match event {
        ClientEvent::Asking { .. } | ClientEvent::Answered { .. } | ClientEvent::Narrowed => {
            return None;
        }
        ClientEvent::Waiting(waiting) => (LogLevel::Warning, waiting.to_string()),
        ClientEvent::Refused { reason } => (LogLevel::Warning, format!("given up: {reason}")),
        ClientEvent::Narrowing(narrowing) => (LogLevel::Info, narrowing.to_string()),
        ClientEvent::Decision(decision) => (LogLevel::Info, decision.clone()),
    })
}

/// Says how many records that are held the filter rejects, and what becomes of them.
fn log_rejected(work: &Work<'_>, order: &HarvestOrder) {
    match count_rejected(work.holdings(), order) {
        Ok(count) if count.rejected > 0 => work.log.warning(&count.said(order.prune)),
        Ok(_) => {}
        // It is only told; the harvest waits for the catalog by itself.
        Err(error) => work.log.info(&message(&error)),
    }
}

/// Writes into the job's log how the harvest ended.
fn log_end(work: &Work<'_>, entry: &HistoryEntry) {
    let (holdings, log) = (work.holdings(), &work.log);
    let catalog = holdings.catalog();
    let warnings = catalog.warnings(entry.id, MOST_WARNINGS + 1);
    let warnings = holdings.wait(warnings).unwrap_or_default();
    let most = usize::try_from(MOST_WARNINGS).unwrap_or(usize::MAX);
    for warning in warnings.iter().take(most) {
        match &warning.identifier {
            Some(identifier) => log.warning(&format!("{identifier}: {}", warning.reason)),
            None => log.warning(&warning.reason),
        }
    }
    if warnings.len() > most {
        log.warning(&format!("all warnings: garner history {}", entry.id));
    }
    let counts = &entry.counts;
    log.info(&format!(
        "harvest {}: {} new, {} updated, {} unchanged, {} deleted, {} skipped, {} failed",
        entry.id,
        counts.new,
        counts.updated,
        counts.unchanged,
        counts.deleted,
        counts.skipped,
        counts.failed
    ));
}

/// How long the server asked to wait, if that was more than the client does; at most a day.
fn asked_to_wait(error: &anyhow::Error) -> Option<Duration> {
    let mut causes = error.chain();
    causes.find_map(
        |cause| match cause.downcast_ref::<harvester::Error>()?.kind() {
            ErrorKind::AskedToWait { wait, .. } => Some((*wait).min(A_DAY)),
            _ => None,
        },
    )
}

const A_DAY: Duration = Duration::from_secs(86_400);
const CANCELLED: &str = "cancelled; what came so far is kept, and the next harvest resumes there";
/// As many warnings are in the log of a job; the history has them all.
const MOST_WARNINGS: u64 = 20;
