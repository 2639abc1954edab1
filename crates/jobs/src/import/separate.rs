//! An import without the database: documents go to a folder of their own, laid out as a collection is, and the same bytes
//! are kept once.

use std::path::Path;
use std::time::Instant;

use catalog::{CaptureOutcome, ContentRow, ImportCounters, Placement};
use crawl::Limits;
use harvester::Stop;
use store::Collection;

use super::flow::{Flow, Kept};
use super::group::Group;
use super::keeping::place;
use super::met::Met;
use super::news::ImportNews;
use super::order::ImportCrawl;
use super::report::Report;
use super::seen::Seen;
use super::sources::Sources;
use super::{Imported, examiner};

/// Imports into a folder. What is there already, by an earlier import into the same, is not written again.
pub fn import_separately(
    directory: &Path,
    order: &ImportCrawl,
    stop: &Stop,
    tell: &(dyn Fn(ImportNews<'_>) + Sync),
) -> anyhow::Result<Imported> {
    let began = Instant::now();
    let limits = Limits::default();
    let sources = Sources::open(order, &limits)?;
    let collection = Collection::open(directory, order.durability)?;
    let mut separate = Separate::open(&collection)?;
    let examiner = examiner(order, Some(&collection))?;
    let flow = Flow {
        order,
        sources: &sources,
        examiner: &examiner,
        stop,
        limits,
        tell,
    };
    let path = directory.join("import-report.jsonl");
    let mut report = None;
    let read = flow.run(
        &[],
        &mut |group| {
            Report::note(&mut report, &path, &group.warnings)?;
            separate.keep(group)
        },
        &|| {},
    )?;
    let report = report.map(|report: Report| report.finish().map(|()| path));
    Ok(Imported {
        separate: Some(separate.saved),
        report: report.transpose()?,
        ..Imported::without_catalog(separate.counters, &read, began)
    })
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
        todo!()
    }

    fn keep(&mut self, group: Group) -> anyhow::Result<Kept> {
        todo!()
    }
}
