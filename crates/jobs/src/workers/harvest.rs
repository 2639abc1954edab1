//! A harvest that is done for a job.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use catalog::Error::Busy;
use catalog::{Claim, HistoryEntry, JobEnd, State};
use harvester::validation::Level;
use harvester::{Client, ErrorKind, Leniency, Listener};

use super::Shared;
use super::ends::{finally, is, is_lost};
use super::log::Log;
use super::running::{Running, Why};
use crate::harvest::{Ended, HarvestJob, Verdict, harvest_for};
use crate::{HarvestParameters, HarvestRepository, Progress, count_rejected, message};

impl Shared {
    pub(super) fn run_harvest(
        &self,
        claim: &Claim,
        running: &Arc<Running>,
        log: &Log,
    ) -> anyhow::Result<()> {
        let prepared = self.insist(running, || self.prepare(claim, running));
        let (order, client) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return self.give_up(claim, running, log, finally(&error)),
        };
        running.expect(order.slices);
        let decided = RefCell::new(None);
        let decide = |ended: &Ended| {
            let verdict = self.decide(claim, running, ended);
            // The last word counts: if the catalog is away, the harvest ends once more.
            decided.replace(Some(verdict.end.clone()));
            verdict
        };
        let job = HarvestJob {
            lease: claim.lease(),
            pulse: &running.pulse,
            decide: &decide,
        };
        let told = |news: &str| log.info(news);
        self.tell_rejected(log, &order);
        let progress = |progress: Progress| running.advance(&progress);
        // While the catalog is away the harvest waits, and goes on from the last page that is in it.
        let harvested = self.insist(running, || {
            harvest_for(
                &self.holdings,
                &client,
                &order,
                Some(&job),
                &told,
                &progress,
            )
        });
        match harvested {
            Ok(entry) => {
                self.tell(log, &entry);
                self.index_later(entry.id);
                if let Some(end) = &*decided.borrow() {
                    if let (JobEnd::PutOff { .. }, Some(reason)) = (end, &entry.failure_reason) {
                        log.warning(reason);
                    }
                    log.ended(end);
                }
                Ok(())
            }
            Err(error) if is_lost(&error) && self.is_over(claim) => Ok(()),
            Err(error) if is_lost(&error) => Err(error),
            // Somebody harvests the repository by hand, and began between the claim and this.
            Err(error) if is(&error, |error| matches!(error, Busy { .. })) => {
                log.info(&format!("waiting: {error}"));
                self.end_job(claim, running, log, JobEnd::GivenBack, &[])
            }
            // It has not begun: rules that cannot be used stay so.
            Err(error) => {
                let end = match is(&error, |_| true) {
                    true => self.failed(claim, &error),
                    false => finally(&error),
                };
                self.give_up(claim, running, log, end)
            }
        }
    }

    /// What is to be harvested, and by whom it is asked for.
    fn prepare(
        &self,
        claim: &Claim,
        running: &Arc<Running>,
    ) -> anyhow::Result<(HarvestRepository, Client)> {
        let job = &claim.job;
        let base_url = job.base_url.as_deref();
        let base_url = base_url.context("the repository of this job was removed")?;
        let parameters = HarvestParameters::parse(&job.parameters)?;
        let order = parameters.harvest(
            &self.holdings,
            base_url,
            &job.metadata_prefix,
            job.set.as_deref(),
        )?;
        let usual = &self.options.client;
        let mut options = parameters.client_options(&self.holdings, base_url, usual)?;
        options.stop = running.stop.clone();
        let (holdings, id) = (Arc::clone(&self.holdings), job.id);
        let waits = Arc::clone(running);
        options.listener = Listener::new(move |waiting| {
            waits.wait(waiting);
            if waiting.wait >= WORTH_A_LINE {
                Log::new(&holdings, id).info(&waiting.to_string());
            }
        });
        if order.validation == Level::Loose {
            options.read.leniency = Leniency::Repair;
        }
        Ok((order, Client::new(options)?))
    }

    /// Says how many records that are held the filter rejects, and what becomes of them.
    fn tell_rejected(&self, log: &Log, order: &HarvestRepository) {
        match count_rejected(&self.holdings, order) {
            Ok(count) if count.rejected > 0 => log.warning(&count.said(order.prune)),
            Ok(_) => {}
            // It is only told; the harvest waits for the catalog by itself.
            Err(error) => log.info(&message(&error)),
        }
    }

    /// What becomes of the job when its harvest has ended.
    fn decide(&self, claim: &Claim, running: &Running, ended: &Ended) -> Verdict {
        let done = matches!(ended.state, State::Ok | State::Incomplete);
        let (end, reason) = match running.why().filter(|_| !done) {
            Some(Why::Cancelled) => (JobEnd::Cancelled, Some(CANCELLED.to_owned())),
            Some(Why::GivenBack | Why::Fenced) => (JobEnd::GivenBack, Some(STOPPED.to_owned())),
            None => match ended.error {
                Some(error) => match asked_to_wait(error) {
                    Some(wait) => (JobEnd::PutOff { wait }, None),
                    None => (self.failed(claim, error), None),
                },
                None => (JobEnd::Finished, None),
            },
        };
        let over = match &end {
            JobEnd::Finished => true,
            JobEnd::Failed { retry_in, .. } => retry_in.is_none(),
            JobEnd::Cancelled | JobEnd::GivenBack | JobEnd::PutOff { .. } => false,
        };
        let follow_ups = match over {
            true => self.hook_jobs(claim, ended),
            false => Vec::new(),
        };
        Verdict {
            end,
            reason,
            follow_ups,
        }
    }

    /// Writes into the job's log how the harvest ended.
    fn tell(&self, log: &Log, entry: &HistoryEntry) {
        let catalog = self.holdings.catalog();
        let warnings = catalog.warnings(entry.id, MOST_WARNINGS + 1);
        let warnings = self.holdings.wait(warnings).unwrap_or_default();
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
            "harvest {}: {} new, {} updated, {} unchanged, {} deleted, {} left out",
            entry.id,
            counts.new,
            counts.updated,
            counts.unchanged,
            counts.deleted,
            counts.skipped + counts.failed
        ));
    }

    /// Whether the job is over by what this worker did, although the answer of the catalog was lost.
    pub(super) fn is_over(&self, claim: &Claim) -> bool {
        let job = self
            .holdings
            .wait(self.holdings.catalog().job(claim.job.id));
        let worker = &claim.job.worker;
        job.is_ok_and(|job| job.is_some_and(|job| job.state.is_over() && job.worker == *worker))
    }
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
/// Waits from here on are in the log of the job.
const WORTH_A_LINE: Duration = Duration::from_secs(5);
const CANCELLED: &str =
    "cancelled; what came so far is kept, and the next harvest goes on from there";
const STOPPED: &str = "its worker was told to stop; it goes on from there";
/// As many warnings are in the log of a job; the history has them all.
const MOST_WARNINGS: u64 = 20;
