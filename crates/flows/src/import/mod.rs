//! The flow of an import: sources → captures → examined on all cores → groups, in order → files → rows.

mod ending;
mod events;
mod examine;
mod extraction;
mod flow;
mod group;
mod job;
mod judging;
mod keeping;
mod loading;
mod met;
mod order;
pub(crate) mod place;
mod report;
mod searchable;
mod sources;
mod spool;
mod uncatalogued;
mod verification;
mod withdrawal;

pub(crate) use self::examine::coded;
use self::examine::{digests, types};
use self::judging::{reclassify, review};

use self::sources::browse;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use anyhow::{Context, anyhow};
use catalog::{Import, NewImport};
use document::container;
use document::url::Rules;
use harvester::Stop;

pub use self::browse::{BrowsedFile, browse_sources};
use self::ending::Done;
pub use self::ending::Imported;
pub use self::events::{Fate, FateKind, FetchProgress, ImportEvent, ImportProgress, Stage};
use self::examine::Examiner;
pub use self::extraction::{Extracted, Extraction, archives_at};
use self::flow::Flow;
pub use self::job::{ImportEnded, ImportJob, ImportVerdict};
use self::judging::{Judge, Judging};
pub use self::judging::{TextOrder, Unsure};
use self::keeping::Keeping;
pub use self::loading::{LoadOrder, Loaded, load};
pub use self::met::update::update_metadata;
pub use self::order::{DigestRule, ImportOrder, Listing, TAGS, containers, is_tag};
pub use self::place::documents_directory;
pub(crate) use self::place::{Location, objects, of_store};
pub use self::reclassify::{Classified, ClassifyCollection, classify_collection};
pub use self::report::{import_report, open_import_report, write as write_report};
pub use self::review::{
    AcceptedReviews, ReviewLimits, ReviewPart, accept_reviews, prune_reviews, review_file,
};
pub use self::searchable::{index_texts, index_texts_within};
use self::sources::Sources;
pub use self::sources::fetched::{FetchedSource, fetch_sources, is_remote};
pub use self::sources::stored::{StoredFile, StoredSource};
use self::spool::Spool;
use self::types::Types;
pub use self::uncatalogued::separate::import_separately;
pub use self::uncatalogued::trial::try_import;
pub use self::verification::{Finding, Verification, VerifyOptions, verify};
use crate::harvest::panic_message;
use crate::{Failure, Holdings};

/// Imports a crawl into the holdings. One that was interrupted goes on where it was.
///
/// Whatever keeps it from being begun is an error: files that are not there, rules that cannot be read, another process
/// that imports the same.
pub fn import(
    holdings: &Holdings,
    order: &ImportOrder,
    stop: &Stop,
    tell: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> anyhow::Result<Imported> {
    import_for(holdings, order, stop, None, tell)
}

/// Imports for a job, which ends together with the import.
///
/// A catalog that is away for a while and a job that is another's now are errors, and nothing is written about them: the
/// same call goes on from the last group that was committed.
pub fn import_for(
    holdings: &Holdings,
    order: &ImportOrder,
    stop: &Stop,
    job: Option<&ImportJob<'_>>,
    tell: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> anyhow::Result<Imported> {
    let began = Instant::now();
    let limits = order.limits();
    let mut order = fetch_sources(holdings.directory(), order, stop, tell)?;
    order.read_lists(holdings)?;
    let order = &order;
    let sources = Sources::open(order, &limits).map_err(|error| match &order.listing {
        // Where it was ordered there was something to import.
        Some(_) => error.context(Failure::new(
            Failure::OTHER_FILES,
            "this machine does not see what was ordered",
        )),
        None => error,
    })?;
    order.compare(&sources)?;
    let rules = rules(order)?;
    let collection = place::for_import(holdings, order.collection.as_deref(), order.durability)?;
    let spool = Spool::new(Some(&collection), stop);
    let judging = judging(order, &spool, Some(holdings))?;
    let examiner = examiner(order, rules, &spool, judging.as_ref());
    judging
        .iter()
        .for_each(|judging| judging.judge().tell_missing(tell));
    let import = begin(holdings, order, &sources, job, tell)?;
    let is_resumed = import.is_resumed();
    let pulse = job.map(|job| (job.pulse, stop));
    let keeping = Keeping::new(holdings, &collection, import, pulse)
        .with_judge(judging.as_ref().map(Judging::judge));
    let flow = Flow {
        order,
        sources: &sources,
        examiner: &examiner,
        judging: judging.as_ref(),
        is_resumed,
        stop,
        limits,
        left: None,
        tell,
        undated: None,
        settles: true,
    };
    // A bug that one record brings to light must not leave the import without an end.
    let worked = catch_unwind(AssertUnwindSafe(|| run(&flow, &keeping)))
        .unwrap_or_else(|panic| Err(anyhow!("a bug in garner: {}", panic_message(&*panic))));
    ending::finish(keeping, job, worked, began)
}

fn begin(
    holdings: &Holdings,
    order: &ImportOrder,
    sources: &Sources,
    job: Option<&ImportJob<'_>>,
    tell: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> anyhow::Result<Import> {
    let parameters = serde_json::to_string(&order.parameters()?)?;
    let new = NewImport {
        sources: sources.named()?,
        keep_versions: order.keep_versions,
        job: job.map(|job| job.lease),
        ..NewImport::new(parameters, Vec::new())
    };
    let import = holdings.wait(holdings.catalog().begin_import(&new))?;
    if import.is_resumed() {
        let id = import.id();
        let note = format!("resuming import {id}, which was interrupted");
        tell(ImportEvent::Note(&note));
    }
    Ok(import)
}

fn run(flow: &Flow<'_>, keeping: &Keeping<'_>) -> anyhow::Result<Done> {
    clear_left(keeping)?;
    let starts = keeping.starts();
    let mut keep = |group| keeping.keep(group);
    let mut read = flow.run(&starts, &mut keep, &|| keeping.beat(flow.stop))?;
    if let Some(judging) = flow.judging.filter(|_| !read.stopped) {
        read.recognition = judging::recognise(keeping, judging, flow.stop)?;
        read.stopped = read.recognition.stopped;
    }
    if !read.stopped {
        let withdrawn = withdrawal::withdraw(keeping, flow.order)?;
        if withdrawn > 0 {
            let told = format!("{withdrawn} documents moved to the trash: deleted at the source");
            (flow.tell)(ImportEvent::Note(&told));
        }
    }
    conclude(keeping, read, flow.order.threads, flow.stop)
}

/// Removes files that a process that was killed was about to remove.
fn clear_left(keeping: &Keeping<'_>) -> anyhow::Result<()> {
    let left = keeping.lock().superfluous().to_vec();
    for content in left {
        let (number, extension) = (content.number, &content.extension);
        keeping.collection.remove(number, extension)?;
    }
    Ok(())
}

/// Does what is left to be done when all sources are read.
fn conclude(
    keeping: &Keeping<'_>,
    mut read: flow::Read,
    threads: usize,
    stop: &Stop,
) -> anyhow::Result<Done> {
    // Documents told of later, or with further URLs, get them into their `.met` files as well.
    if !read.stopped {
        let hold = || keeping.hold();
        met::update::update(keeping.holdings, keeping.collection, u64::MAX, &hold)?;
        read.unresolved = keeping.name_revisits()?;
        review::prune(keeping)?;
        searchable::index(keeping.holdings, keeping.collection, stop)?;
    }
    let verification = match read.stopped {
        true => None,
        false => verification::of_import(keeping, threads, stop)?,
    };
    // The process that resumes it has nothing more to read, and verifies again.
    read.stopped |= verification.is_none();
    Ok(Done { read, verification })
}

/// The rules on URLs. Read first, so that a file that cannot be used is found before anything is written.
fn rules(order: &ImportOrder) -> anyhow::Result<Rules> {
    let mut rules = match &order.blacklist {
        Some(file) => {
            let text = order.read(file)?;
            Rules::parse(&text).with_context(|| format!("in `{}`", file.display()))?
        }
        None => Rules::default(),
    };
    if !order.lists.is_empty() {
        let names = || order.lists.join(", ");
        let text = order.listed.as_deref();
        let text = text.with_context(|| format!("the blacklists {} were not read", names()))?;
        rules.extend(Rules::parse(text).with_context(|| format!("in the lists {}", names()))?);
    }
    Ok(rules.with_max_length(order.max_url_length))
}

/// The judge of documents by their text, if that is wanted.
fn judging<'a>(
    order: &'a ImportOrder,
    spool: &'a Spool<'a>,
    holdings: Option<&'a Holdings>,
) -> anyhow::Result<Option<Judging<'a>>> {
    let judge = Judge::of(order, spool, holdings)?;
    Ok(judge.map(|judge| Judging::new(judge, order.threads)))
}

/// The examiner of captures.
fn examiner<'a>(
    order: &ImportOrder,
    rules: Rules,
    spool: &'a Spool<'a>,
    judging: Option<&'a Judging<'a>>,
) -> Examiner<'a> {
    let types = Types::new(&order.types);
    Examiner {
        rules,
        types,
        open: order.open,
        digests: order.digests,
        judging,
        spool,
        limits: container::Limits::default(),
    }
}
