//! Backups of a data directory and its catalog, made while everything runs.
//!
//! A backup lies in a directory or a bucket: `objects` has the bytes of each file once, under their SHA-256; `backups` has
//! a list of files for each backup. The catalog is written down first, so that every file that it knows is on the list.
//! A list gets its name when all of its objects are there; without one, a backup was interrupted.

mod directory;
mod file;
mod list;
mod place;
mod prune;
mod restore;
mod walk;

use std::fs::File;
use std::path::Path;

use anyhow::{Context, bail};
use catalog::Catalog;
use harvester::Stop;
use serde::Serialize;

use self::file::{Keeper, Kept};
use self::list::{CatalogFile, Entry, Header, ListReader, ListWriter};
use self::place::{LISTS, Place, UNFINISHED};
use self::walk::{Found, Walk};
use crate::Holdings;

pub use self::restore::{RestoreOptions, Restored, restore};

/// The manifest of earlier backups.
#[derive(Debug, Clone, Copy, Default)]
pub struct BackupOptions {
    /// How many backups stay, with this one; all of them if nothing is said.
    pub keep: Option<usize>,
}

/// Counts of a backup.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BackedUp {
    /// The backup's name: when it began.
    pub name: String,
    /// Where it lies.
    pub place: String,
    /// The files on its list.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The files that were new or changed since the last backup.
    pub copied_files: u64,
    /// Their bytes.
    pub copied_bytes: u64,
    /// Whether a backup was interrupted here before.
    pub resumed: bool,
    /// Earlier backups that were removed.
    pub removed: u64,
    /// Files that are not in the backup, with the reasons.
    pub failures: Vec<String>,
    /// Places outside that have to be backed up by other means.
    pub elsewhere: Vec<String>,
}

/// Backs the holdings up to a directory or `s3://BUCKET/PREFIX`. Files that are in an earlier backup there are not copied
/// again. `progress` gets what was done so far.
pub fn backup(
    holdings: &Holdings,
    target: &str,
    options: BackupOptions,
    stop: &Stop,
    progress: &dyn Fn(&BackedUp),
) -> anyhow::Result<BackedUp> {
    let place = Place::begin(target, holdings.directory())?;
    let lists = place.lists()?;
    let mut done = BackedUp {
        name: new_name(&lists),
        place: place.location().to_owned(),
        resumed: place.size(UNFINISHED)?.is_some(),
        elsewhere: elsewhere(holdings)?,
        ..BackedUp::default()
    };
    let scratch = place.scratch(holdings.directory())?;
    place.put_text(UNFINISHED, &done.name)?;
    let mut keeper = Keeper::new(&place, done.resumed, scratch.path());

    let catalog = snapshot(holdings, &mut keeper, scratch.path())?;
    done.copied_bytes += catalog.size;
    let mut list = ListWriter::create(scratch.path(), &Header::new(&done.name, catalog))?;
    let mut previous = match lists.last() {
        Some(name) => Previous::open(&place, name)?,
        None => Previous::default(),
    };
    for found in Walk::new(holdings.directory(), holdings.catalog().file())? {
        if stop.is_set() {
            bail!("the backup was stopped; the next one to the same place resumes it");
        }
        let found = match found {
            Ok(found) => found,
            Err(failure) => {
                done.failures.push(failure);
                continue;
            }
        };
        match known_or_kept(&found, &mut previous, &mut keeper) {
            Ok(None) => {}
            Ok(Some((entry, is_copied))) => {
                done.files += 1;
                done.bytes += entry.size;
                if is_copied {
                    done.copied_files += 1;
                    done.copied_bytes += entry.size;
                }
                list.add(&entry)?;
            }
            Err(error) if error.is::<place::Unusable>() => return Err(error),
            Err(error) => {
                let path = found.path.display();
                done.failures.push(format!("`{path}`: {error:#}"));
            }
        }
        progress(&done);
    }
    let list = list.finish(done.files)?;
    place.settle()?;
    place.put_new(&format!("{LISTS}/{}.jsonl.gz", done.name), &list)?;
    place.settle()?;
    place.remove(UNFINISHED)?;
    if let Some(keep) = options.keep {
        done.removed = prune::prune(&place, keep)?;
    }
    Ok(done)
}

/// The entry of a file, and whether its bytes were copied now. `None` if it is gone.
fn known_or_kept(
    found: &Found,
    previous: &mut Previous,
    keeper: &mut Keeper<'_>,
) -> anyhow::Result<Option<(Entry, bool)>> {
    if let Some(known) = previous.same(found)? {
        return Ok(Some((known, false)));
    }
    Ok(match keeper.keep(found)? {
        Kept::Gone => None,
        Kept::There(entry) => Some((entry, false)),
        Kept::Copied(entry) => Some((entry, true)),
    })
}

/// Writes the catalog down as it stands now, into the backup.
fn snapshot(
    holdings: &Holdings,
    keeper: &mut Keeper<'_>,
    scratch: &Path,
) -> anyhow::Result<CatalogFile> {
    let path = scratch.join("catalog.sqlite");
    let written = holdings.wait(holdings.catalog().snapshot(&path));
    written.context("the catalog cannot be written into the backup")?;
    let file = File::open(&path)?;
    let (sha256, size) = keeper.keep_file(&file)?;
    Ok(CatalogFile {
        sha256,
        size,
        schema: Catalog::schema_version(),
        location: holdings.catalog().location().to_owned(),
    })
}

/// The last backup, read beside the walk in the same order.
#[derive(Default)]
struct Previous {
    entries: Option<ListReader>,
    next: Option<Entry>,
}

impl Previous {
    fn open(place: &Place, name: &str) -> anyhow::Result<Self> {
        let mut entries = place.open_list(name)?;
        let next = entries.next_entry()?;
        Ok(Self {
            entries: Some(entries),
            next,
        })
    }

    /// The entry of a file that has not changed since.
    fn same(&mut self, found: &Found) -> anyhow::Result<Option<Entry>> {
        let Some(entries) = &mut self.entries else {
            return Ok(None);
        };
        while let Some(entry) = &self.next {
            match entry.relative_path()?.cmp(&found.path) {
                std::cmp::Ordering::Less => self.next = entries.next_entry()?,
                std::cmp::Ordering::Equal => {
                    return Ok(entry.is_of(found).then(|| entry.clone()));
                }
                std::cmp::Ordering::Greater => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// Parts of the holdings that are not in the data directory.
fn elsewhere(holdings: &Holdings) -> anyhow::Result<Vec<String>> {
    let mut elsewhere = Vec::new();
    if holdings.wait(holdings.catalog().has_stored_records())? {
        let store = holdings
            .wait(holdings.catalog().default_record_store())?
            .store;
        elsewhere.push(format!("records are in packs below {store}"));
    }
    let collection = holdings.wait(holdings.catalog().collection_place())?;
    if let Some(collection) = collection.filter(|place| !place.is_empty()) {
        elsewhere.push(format!("the documents are in {collection}"));
    }
    let own = std::path::absolute(holdings.directory())?;
    for repository in holdings.wait(holdings.catalog().repositories())? {
        let base = Path::new(&repository.base_directory);
        if base.is_absolute() && !base.starts_with(&own) {
            elsewhere.push(format!(
                "the records of {} are in {}",
                repository.base_url,
                base.display()
            ));
        }
    }
    Ok(elsewhere)
}

/// The name of a backup that begins now, behind all others.
fn new_name(lists: &[String]) -> String {
    let now = jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H%M%SZ")
        .to_string();
    match lists.last() {
        // Two in a second, or a clock that was turned back.
        Some(last) if *last >= now => format!("{last}+"),
        _ => now,
    }
}
