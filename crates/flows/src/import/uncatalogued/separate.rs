//! An import without the database: documents go to a folder of their own, laid out as a collection is, and the same bytes
//! are kept once.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use catalog::{CaptureOutcome, ImportCounters, ImportWarning};
use crawl::Limits;
use harvester::Stop;
use rustix::fs::{FlockOperation, flock};
use store::{Collection, FileKind};

use super::seen::Seen;
use crate::import::events::ImportEvent;
use crate::import::flow::{Flow, Kept};
use crate::import::group::Group;
use crate::import::keeping::fates;
use crate::import::keeping::unsaved::Unsaved;
use crate::import::met::{LONGEST, Met};
use crate::import::order::ImportOrder;
use crate::import::report::Report;
use crate::import::sources::Sources;
use crate::import::spool::Spool;
use crate::import::{Imported, examiner, judging, rules};

/// Imports into a folder. What is there already, by an earlier import into the same, is not written again.
pub fn import_separately(
    directory: &Path,
    order: &ImportOrder,
    stop: &Stop,
    tell: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> anyhow::Result<Imported> {
    let began = Instant::now();
    let limits = Limits::default();
    let sources = Sources::open(order, &limits)?;
    let rules = rules(order)?;
    let collection = Collection::open(directory, order.durability)?;
    let _alone = alone(directory)?;
    let mut separate = Separate::open(&collection)?;
    let spool = Spool::new(Some(&collection), stop);
    let judging = judging(order, &spool, None)?;
    judging
        .iter()
        .for_each(|judging| judging.judge().tell_missing(tell));
    let examiner = examiner(order, rules, &spool, judging.as_ref());
    let flow = Flow {
        order,
        sources: &sources,
        examiner: &examiner,
        judging: judging.as_ref(),
        is_resumed: false,
        stop,
        limits,
        left: None,
        tell,
        undated: None,
        settles: true,
    };
    let path = directory.join("import-report.jsonl");
    let mut report = None;
    let read = flow.run(
        &[],
        &mut |group| {
            let mut warnings = Vec::new();
            let kept = separate.keep(group, &mut warnings);
            Report::note(&mut report, &path, &warnings)?;
            kept
        },
        &|| {},
    )?;
    let report = report.map(|report: Report| report.finish().map(|()| path));
    Ok(Imported {
        report: report.transpose()?,
        ..Imported::without_catalog(separate.counters, Some(separate.saved), &read, began)
    })
}

/// Numbers are given without a catalog, so one import at a time writes into a folder. Ends with what is returned.
fn alone(directory: &Path) -> anyhow::Result<File> {
    let folder = File::open(directory)?;
    if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_err() {
        bail!(
            "another import writes into `{}`; wait for its end, or name another folder",
            directory.display()
        );
    }
    Ok(folder)
}

/// A folder of documents.
struct Separate<'a> {
    collection: &'a Collection,
    seen: Seen,
    next: i64,
    saved: u64,
    counters: ImportCounters,
}

impl<'a> Separate<'a> {
    /// Looks at what is in the folder already; each `.met` file has the digest.
    fn open(collection: &'a Collection) -> anyhow::Result<Self> {
        let mut separate = Self {
            collection,
            seen: Seen::default(),
            next: 1,
            saved: 0,
            counters: ImportCounters::default(),
        };
        for file in collection.files() {
            let file = file?;
            let number = match file.kind {
                FileKind::Metadata { number, .. } => {
                    separate.know(&file.path)?;
                    number
                }
                FileKind::Document { number, .. } | FileKind::Text { number } => number,
                FileKind::Other => continue,
            };
            separate.next = separate.next.max(number + 1);
        }
        Ok(separate)
    }

    fn know(&mut self, path: &str) -> anyhow::Result<()> {
        let mut xml = Vec::new();
        let file = self.collection.read(path)?;
        file.take(LONGEST).read_to_end(&mut xml)?;
        if let Some(met) = Met::parse(&xml) {
            self.seen.know(&met.sha1);
        }
        Ok(())
    }

    fn keep(
        &mut self,
        mut group: Group,
        warnings: &mut Vec<ImportWarning>,
    ) -> anyhow::Result<Kept> {
        let unusual = group.warnings.drain(..);
        warnings.extend(unusual.filter(|warning| !warning.is_usual()));
        let mut unsaved = Unsaved::default();
        let mut outcomes = Vec::new();
        let mut numbers = Vec::new();
        for (at, (row, content)) in group.rows.iter().zip(group.contents).enumerate() {
            let is_new = self.seen.is_new(row);
            let (size, number) = (content.as_ref().map(|content| content.met.size), self.next);
            if let Some(content) = content.filter(|_| is_new)
                && !unsaved.save(self.collection, (at, row), number, content, warnings)?
            {
                // As if it had not come: the same bytes may do better under another number.
                self.next += 1;
                outcomes.push(CaptureOutcome::RevisitUnknown);
                numbers.push(None);
                continue;
            }
            let outcome = self.seen.see(row);
            let number = match size {
                Some(size) if is_new => Some(self.saved(size)),
                Some(_) => {
                    self.counters.saved_known_content += 1;
                    None
                }
                None => {
                    self.counters.count(row, outcome);
                    None
                }
            };
            outcomes.push(match (is_new, outcome) {
                (true, _) => CaptureOutcome::New,
                (false, CaptureOutcome::New | CaptureOutcome::NewVersion) => CaptureOutcome::NewUrl,
                (false, outcome) => outcome,
            });
            numbers.push(number);
        }
        self.collection.sync()?;
        unsaved.count(&mut group.counters, self.counters.failed_save)?;
        self.counters += group.counters;
        unsaved.tell(&group.rows, &mut group.told);
        let fates = fates(group.told, &group.rows, &outcomes, &numbers);
        Ok((fates, self.counters))
    }

    /// Counts a document that lies in its place, and gives its number.
    fn saved(&mut self, size: u64) -> i64 {
        let number = self.next;
        self.counters.bytes_saved += size;
        self.next += 1;
        self.saved += 1;
        number
    }
}
