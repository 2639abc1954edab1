//! An import that is done for a job.

use std::cell::RefCell;
use std::time::Duration;

use catalog::Error::Busy;
use catalog::{Claim, ImportState, JobEnd};

use super::Shared;
use super::ends::{finally, is, is_lost};
use super::log::Log;
use super::running::{Running, Why};
use crate::failure::is_failure;
use crate::import::{ImportEnded, ImportJob, ImportVerdict, import_for};
use crate::{Failure, ImportCrawl, ImportNews, Imported, Listing, message};

impl Shared {
    pub(super) fn run_import(
        &self,
        claim: &Claim,
        running: &Running,
        log: &Log,
    ) -> anyhow::Result<()> {
        let mut order = match ImportCrawl::parse(&claim.job.parameters) {
            Ok(order) => ImportCrawl {
                // Whoever typed in an address may not see all that this machine sees.
                allow: self.options.client.allow.clone(),
                access: self.options.access.clone(),
                confiner: self.options.confiner.clone(),
                ..order
            },
            Err(error) => return self.end_job(claim, running, log, finally(&error), &[]),
        };
        if let Err(error) = order.hold_to(&self.options.import_roots) {
            return self.end_job(claim, running, log, self.failed(claim, &error), &[]);
        }
        if let Some(schedule) = claim.job.schedule {
            let listing = self.insist(running, || {
                self.listing(claim, schedule, order.listing.clone())
            });
            match listing {
                Ok(listing) => order.listing = listing,
                Err(error) => {
                    let end = self.failed(claim, &error);
                    return self.end_job(claim, running, log, end, &[]);
                }
            }
        }
        let decided = RefCell::new(None);
        let decide = |ended: &ImportEnded<'_>| {
            let verdict = self.decide_import(claim, running, ended);
            // The last word counts: if the catalog is away, the import ends once more.
            decided.replace(Some(verdict.end.clone()));
            verdict
        };
        let job = ImportJob {
            lease: claim.lease(),
            pulse: &running.pulse,
            decide: &decide,
        };
        let (holdings, id) = (&self.holdings, claim.job.id);
        let tell = |news: ImportNews<'_>| match news {
            ImportNews::Note(note) => Log::new(holdings, id).info(note),
            ImportNews::Fates(_) => {}
            ImportNews::Fetching(progress) => running.fetch(&progress),
            ImportNews::Progress(progress) => running.import(&progress),
        };
        // While the catalog is away the import waits, and goes on from the last group that is in it.
        let imported = self.insist(running, || {
            import_for(&self.holdings, &order, &running.stop, Some(&job), &tell)
        });
        match imported {
            Ok(imported) => {
                tell_end(log, &imported);
                if let Some(end) = &*decided.borrow() {
                    log.ended(end);
                }
                Ok(())
            }
            Err(error) if is_lost(&error) && self.is_over(claim) => Ok(()),
            Err(error) if is_lost(&error) => Err(error),
            // Somebody imports the same by hand, and began between the claim and this.
            Err(error) if is(&error, |error| matches!(error, Busy { .. })) => {
                log.info(&format!("waiting: {error}"));
                let end = JobEnd::PutOff { wait: A_WHILE };
                self.end_job(claim, running, log, end, &[])
            }
            // Another worker may see them. This one asks again in a minute, too.
            Err(error) if is_failure(&error, Failure::OTHER_FILES) => {
                if self.refuse(claim.job.id) {
                    log.info(&message(&error));
                }
                self.end_job(claim, running, log, JobEnd::GivenBack, &[])
            }
            // It has not begun. Files that are not there may be there later.
            Err(error) => self.end_job(claim, running, log, self.failed(claim, &error), &[]),
        }
    }

    /// What a worker has to see of a schedule's files: some of those that the last import read. If nobody does for an
    /// hour, they are gone for good, and the import takes what there is.
    fn listing(
        &self,
        claim: &Claim,
        schedule: i64,
        first: Option<Listing>,
    ) -> anyhow::Result<Option<Listing>> {
        let catalog = self.holdings.catalog();
        let due_for = self.holdings.wait(catalog.now())? - claim.job.run_at;
        if due_for >= PATIENCE {
            return Ok(None);
        }
        let last = self
            .holdings
            .wait(catalog.last_sources(schedule, MOST_SOURCES))?;
        Ok(match last.is_empty() {
            true => first,
            false => Some(Listing::of_last(last, first)),
        })
    }

    /// What becomes of the job when its import has ended.
    fn decide_import(
        &self,
        claim: &Claim,
        running: &Running,
        ended: &ImportEnded<'_>,
    ) -> ImportVerdict {
        let done = matches!(ended.state, ImportState::Ok | ImportState::Incomplete);
        let (end, reason) = match running.why().filter(|_| !done) {
            Some(Why::Cancelled) => (JobEnd::Cancelled, Some(CANCELLED.to_owned())),
            Some(Why::GivenBack | Why::Fenced) => (JobEnd::GivenBack, Some(STOPPED.to_owned())),
            None => match ended.error {
                Some(error) => (self.failed(claim, error), None),
                None => (JobEnd::Finished, None),
            },
        };
        ImportVerdict { end, reason }
    }
}

/// Writes into the job's log how the import ended.
fn tell_end(log: &Log, imported: &Imported) {
    let counters = &imported.counters;
    let name = imported.id.map_or(String::new(), |id| format!(" {id}"));
    log.info(&format!(
        "import{name}: {} captures, {} new documents, {} known ones, {} filtered",
        counters.all, counters.saved_new, counters.saved_duplicate, counters.filtered
    ));
    if let Some(reason) = &imported.reason {
        log.warning(reason);
    }
    if let Some(report) = &imported.report {
        let report = report.display();
        log.info(&format!("what was left out and why: {report}"));
    }
}

/// An import by somebody else may take hours, and to open all sources just to ask again costs something.
const A_WHILE: Duration = Duration::from_secs(60);
/// So many seconds a scheduled import waits for a worker that sees its files.
const PATIENCE: i64 = 3600;
const MOST_SOURCES: u64 = 1000;
const CANCELLED: &str =
    "cancelled; what came so far is kept, and the same import goes on from there";
const STOPPED: &str = "its worker was told to stop; it goes on from there";
