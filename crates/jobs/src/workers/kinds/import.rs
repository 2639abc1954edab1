//! An import that is done for a job.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use catalog::Error::Busy;
use catalog::{ImportState, JobEnd, JobKind};
use flows::{Failure, ImportEvent, ImportOrder, Imported, Listing, is_failure, message};
use flows::{ImportEnded, ImportJob, ImportVerdict, import_for};

use super::super::log::Log;
use super::super::work::{Work, finally, is};
use super::{Job, Ran};

pub(super) struct Import;

impl Job for Import {
    fn kind(&self) -> JobKind {
        JobKind::Import
    }

    fn needs_data_directory(&self) -> bool {
        false
    }

    fn run(&self, work: &Work<'_>) -> anyhow::Result<Ran> {
        let (job, options, running) = (&work.claim.job, work.options(), work.running);
        let mut order = match ImportOrder::parse(&job.parameters) {
            Ok(order) => ImportOrder {
                // A typed address must not reach everything that this machine can reach.
                allow: options.client.allow.clone(),
                access: options.access.clone(),
                confiner: options.confiner.clone(),
                ..order
            },
            Err(error) => return Ok(Ran::Ends(finally(&error))),
        };
        order.hold_to(&options.import_roots)?;
        if let Some(schedule) = job.schedule {
            order.listing = work.insist(|| listing(work, schedule, order.listing.clone()))?;
        }
        if let Some(folder) = order.no_database.clone() {
            return Ok(Ran::Ends(self.separately(work, &order, &folder)));
        }
        let decided = RefCell::new(None);
        let decide = |ended: &ImportEnded<'_>| {
            let is_done = matches!(ended.state, ImportState::Ok | ImportState::Incomplete);
            let (end, reason) = work.verdict(self, is_done, ended.error, CANCELLED);
            // The last word counts: if the catalog is away, the import ends once more.
            decided.replace(Some(end.clone()));
            ImportVerdict { end, reason }
        };
        let import = ImportJob {
            lease: work.claim.lease(),
            pulse: &running.pulse,
            decide: &decide,
        };
        let (holdings, id) = (work.holdings(), job.id);
        let tell = |news: ImportEvent<'_>| match news {
            ImportEvent::Note(note) => Log::new(holdings, id).info(note),
            ImportEvent::Fates(_) => {}
            ImportEvent::Fetching(progress) => running.fetch(&progress),
            ImportEvent::Progress(progress) => running.import(&progress),
        };
        // While the catalog is away the import waits, and resumes from the last group that is in it.
        let imported =
            work.insist(|| import_for(holdings, &order, &running.stop, Some(&import), &tell))?;
        log_end(&work.log, &imported);
        Ok(Ran::Ended(decided.into_inner()))
    }

    fn decide(&self, work: &Work<'_>, error: &anyhow::Error) -> JobEnd {
        // Somebody imports the same by hand, and began between the claim and this.
        if is(error, |error| matches!(error, Busy { .. })) {
            return JobEnd::PutOff {
                wait: A_WHILE,
                reason: message(error),
            };
        }
        // Another worker may see them. This one asks again in a minute, too.
        if is_failure(error, Failure::OTHER_FILES) {
            if work.shared.refuse(work.claim.job.id) {
                work.log.info(&message(error));
            }
            return JobEnd::GivenBack;
        }
        work.failed(error)
    }
}

impl Import {
    /// Imports into a folder, of which the catalog keeps nothing but the job.
    fn separately(&self, work: &Work<'_>, order: &ImportOrder, folder: &Path) -> JobEnd {
        let (holdings, running, id) = (work.holdings(), work.running, work.claim.job.id);
        let tell = |news: ImportEvent<'_>| match news {
            ImportEvent::Note(note) => Log::new(holdings, id).info(note),
            ImportEvent::Fates(_) => {}
            ImportEvent::Fetching(progress) => running.fetch(&progress),
            ImportEvent::Progress(progress) => running.import(&progress),
        };
        let import = || {
            let mut order =
                flows::fetch_sources(holdings.directory(), order, &running.stop, &tell)?;
            order.read_lists(holdings)?;
            flows::import_separately(folder, &order, &running.stop, &tell)
        };
        let (is_done, error) = match work.insist(import) {
            Ok(imported) => {
                log_end(&work.log, &imported);
                let number = imported.separate.unwrap_or_default();
                work.log.info(&format!(
                    "{number} documents are new in {}",
                    folder.display()
                ));
                let is_done = matches!(imported.state, ImportState::Ok | ImportState::Incomplete);
                (is_done, None)
            }
            Err(error) => (false, Some(error)),
        };
        work.verdict(self, is_done, error.as_ref(), CANCELLED).0
    }
}

/// The files of a schedule that a worker has to see: some of those that the last import read. If none does for an
/// hour, they are gone for good, and the import takes what there is.
fn listing(
    work: &Work<'_>,
    schedule: i64,
    first: Option<Listing>,
) -> anyhow::Result<Option<Listing>> {
    let holdings = work.holdings();
    let catalog = holdings.catalog();
    let due_for = holdings.wait(catalog.now())? - work.claim.job.run_at;
    if due_for >= PATIENCE {
        return Ok(None);
    }
    let last = holdings.wait(catalog.last_sources(schedule, MOST_SOURCES))?;
    Ok(match last.is_empty() {
        true => first,
        false => Some(Listing::of_last(last, first)),
    })
}

/// Writes into the job's log how the import ended.
fn log_end(log: &Log, imported: &Imported) {
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
        log.info(&format!("skipped captures, with reasons: {report}"));
    }
}

/// An import by somebody else may take hours, and to open all sources just to ask again costs something.
const A_WHILE: Duration = Duration::from_secs(60);
/// The seconds that a scheduled import waits for a worker that sees its files.
const PATIENCE: i64 = 3600;
const MOST_SOURCES: u64 = 1000;
const CANCELLED: &str = "cancelled; what came so far is kept, and the same import resumes there";
