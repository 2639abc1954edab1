//! Loading: results of extractions are taken into catalog and collection as an import would have brought them.
//!
//! Groups are made of rows and kept by the very code that keeps those of an import. Each source counts once: a loader
//! claims it in the catalog, and notes it as loaded with its last group.

mod bytes;
mod groups;
mod results;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use catalog::{ExtractionClaim, Import, ImportCounters, ImportState, NewImport, NewSource};
use crawl::Place;
use harvester::Stop;
use serde::Serialize;
use store::{Collection, Durability};

use self::groups::Groups;
use self::results::{Refused, Results, SourceResult};
use super::ending::{self, Imported};
use super::events::{ImportEvent, ImportProgress};
use super::flow::Read;
use super::group::Group;
use super::keeping::Keeping;
use super::order::ImportOrder;
use super::place;
use super::spool::Spool;
use crate::harvest::panic_message;
use crate::{Holdings, load_model, message};

/// How results are loaded.
#[derive(Debug, Clone, Default)]
pub struct LoadOrder {
    /// The places of results: directories, or s3://BUCKET/PREFIX.
    pub places: Vec<String>,
    /// Where documents go, if this is the first import of the catalog.
    pub collection: Option<String>,
    /// Whether the older content of a changed document is kept.
    pub keep_versions: bool,
    /// The model that an import would judge with: a file, or `cdi-2012`; none is the one that is built in.
    pub model: Option<String>,
    /// When files must have reached the disk.
    pub durability: Durability,
    /// How many threads verify.
    pub threads: usize,
}

/// The outcome of loading.
#[derive(Debug, Clone, Serialize)]
pub struct Loaded {
    /// How it ended, as an import does.
    pub state: ImportState,
    /// Why it is not complete.
    pub reason: Option<String>,
    /// Sources with results.
    pub sources: u64,
    /// Sources that were loaded now.
    pub loaded: u64,
    /// Sources that were loaded before, or by another loader.
    pub known: u64,
    /// Results that cannot be loaded, or not completely.
    pub refused: u64,
    /// Results of archives that could not be read completely when they were extracted.
    pub incomplete: u64,
    /// Why not, of the first of them.
    pub problems: Vec<String>,
    /// The imports in the history.
    pub imports: Vec<i64>,
    /// The counts of these imports.
    #[serde(flatten)]
    pub counters: ImportCounters,
    /// How long it took.
    pub seconds: f64,
}

/// Loads results into the holdings. One that was killed goes on where it was.
pub fn load(
    holdings: &Holdings,
    order: &LoadOrder,
    stop: &Stop,
    tell: &(dyn Fn(ImportEvent<'_>) + Sync),
) -> anyhow::Result<Loaded> {
    let began = Instant::now();
    let model = load_model(order.model.as_deref())?.version().to_owned();
    let Results { sources, refused } = Results::find(&order.places, &model)?;
    let collection = place::for_import(holdings, order.collection.as_deref(), order.durability)?;
    let mut loading = Loading {
        holdings,
        order,
        collection: &collection,
        stop,
        tell,
        loaded: Loaded::new(sources.len(), &refused),
    };
    let keys: Vec<_> = sources.iter().map(|one| one.key.clone()).collect();
    let incomplete = sources.iter().filter(|one| one.is_incomplete()).count();
    loading.all(sources)?;
    loading.clear_abandoned(&keys)?;
    let mut loaded = loading.loaded;
    loaded.incomplete = incomplete as u64;
    loaded.seconds = began.elapsed().as_secs_f64();
    loaded.conclude();
    Ok(loaded)
}

/// A loader.
struct Loading<'a> {
    holdings: &'a Holdings,
    order: &'a LoadOrder,
    collection: &'a Collection,
    stop: &'a Stop,
    tell: &'a (dyn Fn(ImportEvent<'_>) + Sync),
    loaded: Loaded,
}

impl Loading<'_> {
    /// Loads batch after batch until every source is loaded, by this loader or another.
    fn all(&mut self, mut pending: Vec<SourceResult>) -> anyhow::Result<()> {
        let mut is_told = false;
        while !self.stop.is_set() {
            let keys: Vec<_> = pending.iter().map(|one| one.key.clone()).collect();
            let catalog = self.holdings.catalog();
            // Imports of loaders that were killed end here, and are resumed below.
            self.holdings.wait(catalog.running_imports())?;
            let known = self.holdings.wait(catalog.loaded_extractions(&keys))?;
            let claimed = self.holdings.wait(catalog.claimed_extractions(&keys))?;
            let before = pending.len();
            pending.retain(|one| !known.contains(&one.key));
            self.loaded.known += (before - pending.len()) as u64;
            if pending.is_empty() {
                return Ok(());
            }
            let mut free = pending
                .iter()
                .filter(|one| !claimed.contains(&one.key))
                .peekable();
            let options = free.peek().map(|one| one.options.clone());
            let alike = free.filter(|one| Some(&one.options) == options.as_ref());
            let batch: Vec<_> = alike.take(BATCH).collect();
            let import = match batch.is_empty() {
                true => None,
                false => self.begin(&batch)?,
            };
            let settled = match import {
                Some(import) => self.batch(&batch, import)?,
                None => HashSet::new(),
            };
            if settled.is_empty() {
                if !std::mem::replace(&mut is_told, true) {
                    (self.tell)(ImportEvent::Note(
                        "another loader has these sources; waiting",
                    ));
                }
                std::thread::sleep(A_WHILE);
            }
            pending.retain(|one| !settled.contains(&one.key));
        }
        self.loaded.state = ImportState::Cancelled;
        Ok(())
    }

    /// Removes files that loaders placed which were killed, where other loaders have loaded all of their sources since:
    /// what is needed of these lies under other numbers.
    fn clear_abandoned(&self, keys: &[String]) -> anyhow::Result<()> {
        let catalog = self.holdings.catalog();
        for (import, numbers) in self.holdings.wait(catalog.abandoned_imports(keys))? {
            for number in numbers {
                if self.holdings.wait(catalog.content(number))?.is_some() {
                    continue;
                }
                for file in self.collection.files_of(number)? {
                    self.collection.remove_file(&file.path)?;
                }
            }
            self.collection.sync()?;
            self.holdings.wait(catalog.forget_reserved(import))?;
        }
        Ok(())
    }

    /// Begins the import of a batch; `None` if another process has the same.
    fn begin(&self, batch: &[&SourceResult]) -> anyhow::Result<Option<Import>> {
        let mut parameters = batch[0].entry.facts.options.clone();
        parameters.keep_versions = self.order.keep_versions;
        parameters.collection.clone_from(&self.order.collection);
        let sources = batch.iter().map(|one| NewSource {
            name: one.entry.path.clone(),
            beginning: one.key.clone(),
            is_appended_to: false,
        });
        let new = NewImport {
            sources: sources.collect(),
            keep_versions: self.order.keep_versions,
            ..NewImport::new(serde_json::to_string(&parameters)?, Vec::new())
        };
        let import = match self
            .holdings
            .wait(self.holdings.catalog().begin_import(&new))
        {
            Ok(import) => import,
            Err(catalog::Error::Busy { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if import.is_resumed() {
            let note = format!(
                "going on with import {}, which was interrupted",
                import.id()
            );
            (self.tell)(ImportEvent::Note(&note));
        }
        Ok(Some(import))
    }

    /// Loads a batch as one import. Returns the sources that are loaded, or cannot be.
    fn batch(
        &mut self,
        batch: &[&SourceResult],
        import: Import,
    ) -> anyhow::Result<HashSet<String>> {
        let began = Instant::now();
        let id = import.id();
        let keeping = Keeping::new(self.holdings, self.collection, import, None);
        let settled = Mutex::new(Settled::default());
        let worked = catch_unwind(AssertUnwindSafe(|| {
            let mut settled = settled.lock().map_err(|_| anyhow!("a thread panicked"))?;
            super::clear_left(&keeping)?;
            let read = self.sources(batch, &keeping, &mut settled)?;
            super::conclude(&keeping, read, self.order.threads.max(1), self.stop)
        }));
        let worked = worked
            .unwrap_or_else(|panic| Err(anyhow!("a bug in garner: {}", panic_message(&*panic))));
        let imported = ending::finish(keeping, None, worked, began)?;
        let settled = settled
            .into_inner()
            .unwrap_or_else(|error| error.into_inner());
        self.loaded.add(id, &imported, &settled);
        if imported.state == ImportState::Failed {
            bail!(
                "import {id} failed: {}; garner load resumes it",
                imported
                    .reason
                    .as_deref()
                    .unwrap_or("for no reason that is known")
            );
        }
        Ok(settled.keys)
    }

    fn sources(
        &self,
        batch: &[&SourceResult],
        keeping: &Keeping<'_>,
        settled: &mut Settled,
    ) -> anyhow::Result<Read> {
        let spool = Spool::new(Some(self.collection), self.stop);
        let mut read = Read::default();
        for (at, start) in keeping.starts().into_iter().enumerate() {
            if self.stop.is_set() {
                read.stopped = true;
                break;
            }
            let one = batch[at];
            let Some(position) = start else {
                settled.keys.insert(one.key.clone());
                settled.known += 1;
                continue;
            };
            if !self.source(at, position, one, (keeping, &spool), settled)? {
                read.stopped = true;
                break;
            }
            (self.tell)(ImportEvent::Progress(ImportProgress {
                source: &one.entry.path,
                done: at as u64 + 1,
                total: batch.len() as u64,
                counters: &keeping.lock().counters(),
            }));
        }
        Ok(read)
    }

    /// Loads one source from a row on; whether it came to its end.
    fn source(
        &self,
        at: usize,
        position: u64,
        one: &SourceResult,
        (keeping, spool): (&Keeping<'_>, &Spool<'_>),
        settled: &mut Settled,
    ) -> anyhow::Result<bool> {
        let opened = Groups::open(one, self.holdings, spool);
        let mut groups = match opened {
            Ok(groups) => groups,
            // One result that cannot be loaded does not cost the others. It can be loaded when it is mended.
            Err(error) => {
                let reason = message(&error);
                let mut group = Group::new(at, position);
                let place = Place {
                    file: one.entry.path.clone().into(),
                    ..Place::default()
                };
                group.skip(&place, &reason);
                group.source_done = true;
                keeping.keep(group)?;
                settled.refused.push(reason);
                settled.keys.insert(one.key.clone());
                return Ok(true);
            }
        };
        let catalog = self.holdings.catalog();
        let claim = self
            .holdings
            .wait(catalog.claim_extraction(&mut keeping.lock(), &one.key))?;
        if claim != ExtractionClaim::Claimed {
            let mut group = Group::new(at, position);
            group.source_done = true;
            keeping.keep(group)?;
            if claim == ExtractionClaim::Loaded {
                settled.keys.insert(one.key.clone());
                settled.known += 1;
            }
            return Ok(true);
        }
        groups.pass_to(position);
        while let Some(group) = groups.next(at)? {
            let Some(group) = group.resolve()? else {
                return Ok(false);
            };
            let is_end = group.source_done;
            if groups.is_incomplete {
                let import = keeping.lock();
                self.holdings.wait(catalog.note_unread_bytes(&import))?;
            }
            keeping.keep(group)?;
            if self.stop.is_set() && !is_end {
                return Ok(false);
            }
        }
        let key = std::slice::from_ref(&one.key);
        match self.holdings.wait(catalog.loaded_extractions(key))?.is_empty() {
            false => settled.loaded += 1,
            // It may be mended, and is loaded again then.
            true => settled.refused.push(format!(
                "`{}`: documents could not be read, see the report; load it again when its bytes are back",
                one.entry.path
            )),
        }
        settled.keys.insert(one.key.clone());
        Ok(true)
    }
}

/// The outcome of the sources of a batch.
#[derive(Debug, Default)]
struct Settled {
    keys: HashSet<String>,
    loaded: u64,
    known: u64,
    refused: Vec<String>,
}

impl Loaded {
    fn new(sources: usize, refused: &[Refused]) -> Self {
        let problems = refused.iter().map(|refused| refused.reason.clone());
        Self {
            state: ImportState::Ok,
            reason: None,
            sources: (sources + refused.len()) as u64,
            loaded: 0,
            known: 0,
            refused: refused.len() as u64,
            incomplete: 0,
            problems: problems.take(PROBLEMS).collect(),
            imports: Vec::new(),
            counters: ImportCounters::default(),
            seconds: 0.0,
        }
    }

    fn add(&mut self, id: i64, imported: &Imported, settled: &Settled) {
        self.imports.push(id);
        self.counters += imported.counters;
        self.loaded += settled.loaded;
        self.known += settled.known;
        self.refused += settled.refused.len() as u64;
        let room = PROBLEMS.saturating_sub(self.problems.len());
        self.problems
            .extend(settled.refused.iter().take(room).cloned());
        if imported.state != ImportState::Ok {
            self.state = imported.state;
            self.reason.clone_from(&imported.reason);
        }
    }

    fn conclude(&mut self) {
        if self.refused > 0 && self.state == ImportState::Ok {
            self.state = match self.loaded + self.known {
                0 => ImportState::Failed,
                _ => ImportState::Incomplete,
            };
        }
        if self.refused > 0 && self.reason.is_none() {
            self.reason = Some(format!("{} results could not be loaded", self.refused));
        }
        if self.incomplete > 0 && self.state == ImportState::Ok {
            self.state = ImportState::Incomplete;
            self.reason = Some(format!(
                "{} results are those of archives that could not be read completely",
                self.incomplete
            ));
        }
        if self.state == ImportState::Cancelled && self.reason.is_none() {
            self.reason = Some("stopped; what came so far is kept".to_owned());
        }
    }
}

impl LoadOrder {
    /// The order of a configuration: what an import would do with documents.
    pub fn of(import: &ImportOrder, places: Vec<String>) -> Self {
        Self {
            places,
            collection: import.collection.clone(),
            keep_versions: import.keep_versions,
            model: import.texts.model.clone(),
            durability: import.durability,
            threads: import.threads,
        }
    }
}

/// The sources of one import in the history.
const BATCH: usize = 200;
const PROBLEMS: usize = 20;
const A_WHILE: Duration = Duration::from_secs(1);
