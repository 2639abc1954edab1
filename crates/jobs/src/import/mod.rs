//! The flow of an import: sources → captures → examined on all cores → groups, in order → files → rows.

mod budget;
mod content_filter;
mod downloads;
mod ending;
mod examine;
mod flow;
mod gather;
mod group;
mod job;
mod keeping;
mod member;
mod met;
mod news;
mod order;
mod place;
mod report;
mod seen;
mod separate;
mod sources;
mod spool;
mod trial;
mod verification;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use anyhow::{Context, anyhow};
use catalog::{Import, NewImport};
use crawl::Limits;
use document::container;
use document::url::Rules;
use harvester::Stop;
use store::Collection;

use self::content_filter::Off;
use self::ending::Done;
pub use self::ending::Imported;
use self::examine::Examiner;
use self::flow::Flow;
pub(crate) use self::job::{ImportEnded, ImportJob, ImportVerdict};
use self::keeping::Keeping;
pub use self::news::{Fate, FateKind, ImportNews, ImportProgress};
pub use self::order::ImportCrawl;
pub use self::place::documents_directory;
pub use self::separate::import_separately;
use self::sources::Sources;
use self::spool::Spool;
pub use self::trial::try_import;
pub use self::verification::{Finding, Verification, VerifyOptions, verify};
use crate::Holdings;
use crate::harvest::said;

/// Imports a crawl into the holdings. One that was interrupted goes on where it was.
///
/// Whatever keeps it from being begun is an error: files that are not there, rules that cannot be read, another process
/// that imports the same.
pub fn import(
    holdings: &Holdings,
    order: &ImportCrawl,
    stop: &Stop,
    tell: &(dyn Fn(ImportNews<'_>) + Sync),
) -> anyhow::Result<Imported> {
    import_for(holdings, order, stop, None, tell)
}

/// Imports for a job, which ends together with the import.
///
/// A catalog that is away for a while and a job that is another's now are errors, and nothing is written about them: the
/// same call goes on from the last group that was committed.
pub(crate) fn import_for(
    holdings: &Holdings,
    order: &ImportCrawl,
    stop: &Stop,
    job: Option<&ImportJob<'_>>,
    tell: &(dyn Fn(ImportNews<'_>) + Sync),
) -> anyhow::Result<Imported> {
    let began = Instant::now();
    let limits = Limits::default();
    let sources = Sources::open(order, &limits)?;
    let rules = rules(order)?;
    let collection = place::for_import(holdings, order.collection.as_deref(), order.durability)?;
    let examiner = examiner(order, rules, Some(&collection), stop);
    let import = begin(holdings, order, &sources, job, tell)?;
    let pulse = job.map(|job| (job.pulse, stop));
    let keeping = Keeping::new(holdings, &collection, import, pulse);
    let flow = Flow {
        order,
        sources: &sources,
        examiner: &examiner,
        stop,
        limits,
        tell,
    };
    // A bug that one record brings to light must not leave the import without an end.
    let worked = catch_unwind(AssertUnwindSafe(|| run(&flow, &keeping)))
        .unwrap_or_else(|panic| Err(anyhow!("a bug in garner: {}", said(&*panic))));
    ending::finish(keeping, job, worked, began)
}

fn begin(
    holdings: &Holdings,
    order: &ImportCrawl,
    sources: &Sources,
    job: Option<&ImportJob<'_>>,
    tell: &(dyn Fn(ImportNews<'_>) + Sync),
) -> anyhow::Result<Import> {
    let parameters = order.parameters(sources.beginnings()?)?;
    let parameters = serde_json::to_string(&parameters)?;
    let new = NewImport {
        keep_versions: order.keep_versions,
        job: job.map(|job| job.lease),
        ..NewImport::new(parameters, sources.names())
    };
    let import = holdings.wait(holdings.catalog().begin_import(&new))?;
    if import.is_resumed() {
        let id = import.id();
        let note = format!("going on with import {id}, which was interrupted");
        tell(ImportNews::Note(&note));
    }
    Ok(import)
}

fn run(flow: &Flow<'_>, keeping: &Keeping<'_>) -> anyhow::Result<Done> {
    // What a process that was killed was about to remove.
    let left = keeping.lock().superfluous().to_vec();
    for content in left {
        let (number, extension) = (content.number, &content.extension);
        keeping.collection.remove(number, extension)?;
    }
    let starts = keeping.starts();
    let mut keep = |group| keeping.keep(group);
    let mut read = flow.run(&starts, &mut keep, &|| keeping.beat(flow.stop))?;
    let verification = match read.stopped {
        true => None,
        false => verification::of_import(keeping, flow.order.threads, flow.stop)?,
    };
    // Who goes on with it has nothing more to read, and verifies again.
    read.stopped |= verification.is_none();
    Ok(Done { read, verification })
}

/// The rules on URLs. Read first, so that a file that cannot be used is found before anything is written.
fn rules(order: &ImportCrawl) -> anyhow::Result<Rules> {
    let rules = match &order.blacklist {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("`{}` cannot be read", file.display()))?;
            Rules::parse(&text).with_context(|| format!("in `{}`", file.display()))?
        }
        None => Rules::default(),
    };
    Ok(rules.with_max_length(order.max_url_length))
}

/// What captures are looked at with.
fn examiner<'a>(
    order: &ImportCrawl,
    rules: Rules,
    collection: Option<&'a Collection>,
    stop: &'a Stop,
) -> Examiner<'a> {
    let types: BTreeSet<_> = order.types.iter().map(|name| name.to_lowercase()).collect();
    Examiner {
        rules,
        types,
        open: order.open,
        filter: &Off,
        spool: Spool::new(collection, stop),
        limits: container::Limits::default(),
    }
}
