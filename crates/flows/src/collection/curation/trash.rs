//! The trash: the files of removed documents, in the data directory until they are restored or purged.
//!
//! The catalog says first what is to become of a content, and its files follow. So a process that is killed leaves work
//! that [`tidy_trash`] finishes, and a file is never in neither place.

use std::collections::HashSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use anyhow::Context;
use catalog::{RestoreOutcome, TrashedContent, TrashedState};
use store::{Collection, Durability};

use crate::import::{place, update_metadata};
use crate::{Holdings, message};

/// The collection and the trash, of which no other process moves files meanwhile.
struct Trash<'a> {
    holdings: &'a Holdings,
    collection: Collection,
    trash: Collection,
    /// Its lock is freed with it, also if the process is killed.
    _lock: File,
}

/// Moves the files of removed documents to the trash, and removes those of purged ones. Returns the number of contents
/// whose files could not be moved; the log has the reasons, and the next call tries them again.
pub fn tidy_trash(holdings: &Holdings) -> anyhow::Result<u64> {
    let pending = holdings.wait(holdings.catalog().pending_trash(0, 1))?;
    match pending.is_empty() {
        true => Ok(0),
        false => Trash::open(holdings)?.tidy(),
    }
}

/// Puts removed documents back, with their files; tells what became of each.
pub fn restore_documents(
    holdings: &Holdings,
    documents: &[i64],
) -> anyhow::Result<Vec<RestoreOutcome>> {
    let trash = Trash::open(holdings)?;
    trash.tidy()?;
    let mut outcomes = Vec::with_capacity(documents.len());
    for part in documents.chunks(BATCH) {
        let here = trash.bring(part)?;
        let restored = holdings.catalog().restore_documents(part, &here);
        outcomes.extend(holdings.wait(restored)?);
    }
    trash.tidy()?;
    drop(trash);
    update_metadata(holdings, u64::MAX)?;
    Ok(outcomes)
}

/// Removes from the trash what was removed more than `seconds` ago. Returns the number of documents.
pub fn purge_trash(holdings: &Holdings, seconds: i64) -> anyhow::Result<u64> {
    let mut purged = 0;
    loop {
        let some = holdings.wait(holdings.catalog().purge_trash(seconds, PAGE))?;
        purged += some;
        tidy_trash(holdings)?;
        if some == 0 {
            return Ok(purged);
        }
    }
}

impl<'a> Trash<'a> {
    fn open(holdings: &'a Holdings) -> anyhow::Result<Self> {
        let directory = holdings.directory().join("trash");
        let lock = lock(&directory)?;
        Ok(Self {
            holdings,
            collection: place::of_holdings(holdings)?,
            trash: Collection::open(&directory, Durability::Page)?,
            _lock: lock,
        })
    }

    fn tidy(&self) -> anyhow::Result<u64> {
        let catalog = self.holdings.catalog();
        let (mut after, mut failed) = (0, 0);
        loop {
            let pending = self.holdings.wait(catalog.pending_trash(after, PAGE))?;
            let Some(last) = pending.last() else {
                return Ok(failed);
            };
            after = last.number;
            let (mut trashed, mut gone) = (Vec::new(), Vec::new());
            for content in &pending {
                match self.settle(content) {
                    Ok(()) if content.state == TrashedState::Gone => gone.push(content.number),
                    Ok(()) => trashed.push(content.number),
                    Err(error) => {
                        failed += 1;
                        let error = message(&error);
                        tracing::warn!(content = content.number, "not moved to the trash: {error}");
                    }
                }
            }
            self.trash.sync()?;
            self.collection.sync()?;
            self.holdings.wait(catalog.note_trashed(&trashed))?;
            self.holdings.wait(catalog.forget_trashed(&gone))?;
        }
    }

    fn settle(&self, content: &TrashedContent) -> anyhow::Result<()> {
        let (number, extension) = (content.number, &content.extension);
        match content.state {
            TrashedState::Leaving => {
                self.collection.transfer(&self.trash, number, extension)?;
            }
            TrashedState::Gone => {
                self.trash.remove(number, extension)?;
                // Files that came back for a document which was not restored.
                let held = self
                    .holdings
                    .wait(self.holdings.catalog().content(number))?;
                if held.is_none() {
                    self.collection.remove(number, extension)?;
                }
            }
            TrashedState::Waiting | TrashedState::Trashed => {}
        }
        Ok(())
    }

    /// Brings the files of documents back to the collection; tells which contents have their file there.
    fn bring(&self, documents: &[i64]) -> anyhow::Result<HashSet<i64>> {
        let catalog = self.holdings.catalog();
        let contents = self.holdings.wait(catalog.contents_to_restore(documents))?;
        let mut here = HashSet::new();
        for content in &contents {
            let (number, extension) = (content.number, &content.extension);
            let transferred = self.trash.transfer(&self.collection, number, extension);
            transferred.with_context(|| format!("the files of content {number}"))?;
            let path = Collection::relative_path(number, extension);
            if self.collection.size(&path)?.is_some() {
                here.insert(number);
            }
        }
        self.collection.sync()?;
        Ok(here)
    }
}

/// Waits until no other process moves files to or from the trash.
fn lock(directory: &Path) -> anyhow::Result<File> {
    let unusable = || format!("the trash `{}` cannot be used", directory.display());
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .with_context(unusable)?;
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false);
    let file = file.open(directory.join("lock")).with_context(unusable)?;
    file.lock().with_context(unusable)?;
    Ok(file)
}

const PAGE: u64 = 500;
const BATCH: usize = 200;
