//! The flow of an import: sources → captures → examined on all cores → groups, in order → files → rows.

mod budget;
mod content_filter;
mod ending;
mod examine;
mod flow;
mod gather;
mod group;
mod keeping;
mod member;
mod met;
mod news;
mod order;
mod report;
mod seen;
mod separate;
mod sources;
mod spool;
mod trial;
mod verification;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, anyhow};
use catalog::{Import, NewImport};
use crawl::Limits;
use document::container;
use document::url::Rules;
use harvester::Stop;
use store::{Collection, Durability};

use self::content_filter::Off;
use self::ending::Done;
pub use self::ending::Imported;
use self::examine::Examiner;
use self::flow::Flow;
use self::keeping::Keeping;
pub use self::news::{Fate, FateKind, ImportNews, ImportProgress};
pub use self::order::ImportCrawl;
pub use self::separate::import_separately;
use self::sources::Sources;
use self::spool::Spool;
pub use self::trial::try_import;
pub use self::verification::{Finding, Verification, VerifyOptions, verify};
use crate::harvest::said;
use crate::Holdings;

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
    let began = Instant::now();
    let limits = Limits::default();
    let sources = Sources::open(order, &limits)?;
    let collection = open_collection(holdings, order.collection.as_deref(), order.durability)?;
    let examiner = examiner(order, Some(&collection))?;
    let import = begin(holdings, order, &sources, tell)?;
    let keeping = Keeping::new(holdings, &collection, import);
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
    ending::finish(keeping, worked, began)
}

fn begin(
    holdings: &Holdings,
    order: &ImportCrawl,
    sources: &Sources,
    tell: &(dyn Fn(ImportNews<'_>) + Sync),
) -> anyhow::Result<Import> {
    let parameters = serde_json::to_string(&order.parameters()?)?;
    let new = NewImport {
        keep_versions: order.keep_versions,
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
    let starts = keeping.starts();
    let mut keep = |group| keeping.keep(group);
    let read = flow.run(&starts, &mut keep, &|| keeping.beat(flow.stop))?;
    let verification = match read.stopped {
        true => None,
        false => Some(verification::of_import(keeping)?),
    };
    Ok(Done { read, verification })
}

/// The rules of an order.
fn examiner<'a>(
    order: &ImportCrawl,
    collection: Option<&'a Collection>,
) -> anyhow::Result<Examiner<'a>> {
    let mut rules = match &order.blacklist {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("`{}` cannot be read", file.display()))?;
            Rules::parse(&text).with_context(|| format!("in `{}`", file.display()))?
        }
        None => Rules::default(),
    };
    rules.max_length = order.max_url_length;
    let types: BTreeSet<_> = order.types.iter().map(|name| name.to_lowercase()).collect();
    Ok(Examiner {
        rules,
        types,
        open: order.open,
        filter: &Off,
        spool: Spool::new(collection),
        limits: container::Limits::default(),
    })
}

/// Where documents go: DIR/documents, or the place that is named.
fn open_collection(
    holdings: &Holdings,
    place: Option<&str>,
    durability: Durability,
) -> anyhow::Result<Collection> {
    let directory = match place {
        Some(place) => PathBuf::from(place),
        None => documents_directory(holdings),
    };
    Ok(Collection::open(&directory, durability)?)
}

/// Where documents go if nothing else is said.
pub fn documents_directory(holdings: &Holdings) -> PathBuf {
    holdings.directory().join("documents")
}
