//! Keeps records of one repository in one format, as the repository has them kept.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context;
use catalog::{IN_DATABASE, IN_PACKS, IN_STORE, RecordContent, RecordStore, RecordWay, Repository};
use data_encoding::HEXLOWER;
use store::{Durability, Error, Layout, NewFile, PackWriter, Packs, RecordFiles, Unwritten};

use super::{PACKS, RecordPlace, lock, unreadable};
use crate::Holdings;
use crate::holdings::plain_name;

/// Writes, reads and removes records. Threads share it; one process writes at a time.
///
/// Records that came are kept in batches: [`RecordKeeper::end_batch`] gives what has to be written before the catalog is told,
/// and told to it.
#[derive(Debug)]
pub(crate) struct RecordKeeper<'a> {
    holdings: &'a Holdings,
    repository: &'a Repository,
    metadata_prefix: &'a str,
    /// There may be files whatever way is used now.
    files: RecordFiles,
    writer: Writer,
    /// Files of records that are kept elsewhere now, which go when the catalog knows.
    obsolete: Mutex<Vec<String>>,
    /// Packs that were looked for, and whether they are there.
    packs: Mutex<HashMap<String, bool>>,
}

#[derive(Debug)]
enum Writer {
    Files,
    Packs {
        writer: PackWriter,
        mark: &'static str,
    },
    Database {
        stem: String,
        rows: Mutex<Rows>,
    },
}

#[derive(Debug, Default)]
struct Rows {
    next: u64,
    added: Vec<RecordContent>,
    bytes: usize,
}

/// Records that wait to be written and committed.
#[derive(Debug, Default)]
pub(crate) struct KeptBatch {
    unwritten: Option<Unwritten>,
    /// The records that the catalog keeps.
    pub(crate) contents: Vec<RecordContent>,
    obsolete: Vec<String>,
}

impl<'a> RecordKeeper<'a> {
    /// Opens the place where the records of a repository and a format are kept. `holder` is a name of this process's work that
    /// no other has.
    pub(crate) fn open(
        holdings: &'a Holdings,
        repository: &'a Repository,
        metadata_prefix: &'a str,
        (layout, durability): (Layout, Durability),
        holder: &str,
    ) -> anyhow::Result<Self> {
        let to = holdings.wait(holdings.catalog().record_store(repository.id))?;
        Self::to(
            holdings,
            repository,
            metadata_prefix,
            (layout, durability),
            (&to, holder),
        )
    }

    /// The same for records that are kept in a given way.
    pub(crate) fn to(
        holdings: &'a Holdings,
        repository: &'a Repository,
        metadata_prefix: &'a str,
        (layout, durability): (Layout, Durability),
        (to, holder): (&RecordStore, &str),
    ) -> anyhow::Result<Self> {
        let directory = holdings.record_directory(repository, metadata_prefix);
        let files = RecordFiles::open(&directory, layout, durability)?;
        // Numbers of harvests are given again by another catalog in the same store.
        let mut random = [0; 6];
        getrandom::fill(&mut random).context("the system gives no random numbers")?;
        let stem = format!("{holder}-{}", HEXLOWER.encode(&random));
        let writer = match to.way {
            RecordWay::Files => Writer::Files,
            RecordWay::Packs if to.store.is_empty() => Writer::Packs {
                writer: Packs::open(&directory.join(PACKS), durability)?.writer(&stem),
                mark: IN_PACKS,
            },
            RecordWay::Packs => {
                let directory = store_directory(repository, metadata_prefix);
                Writer::Packs {
                    writer: holdings
                        .stored_packs()?
                        .writer(&format!("{directory}/{stem}")),
                    mark: IN_STORE,
                }
            }
            RecordWay::Database => Writer::Database {
                stem,
                rows: Mutex::default(),
            },
        };
        Ok(Self {
            holdings,
            repository,
            metadata_prefix,
            files,
            writer,
            obsolete: Mutex::default(),
            packs: Mutex::default(),
        })
    }

    /// The files of records.
    pub(crate) fn files(&self) -> &RecordFiles {
        &self.files
    }

    /// Whether records get files of their own.
    pub(crate) fn is_of_files(&self) -> bool {
        matches!(self.writer, Writer::Files)
    }

    /// Writes the file of a record that is to be placed later, if it gets one.
    pub(crate) fn fill(&self, identifier: &str, xml: &[u8]) -> Option<Result<NewFile, Error>> {
        self.is_of_files().then(|| self.files.fill(identifier, xml))
    }

    /// Keeps a record and returns its place for the catalog. `filled` is its file, if that is written; `known` the place that
    /// it had.
    pub(crate) fn place(
        &self,
        filled: Option<Result<NewFile, Error>>,
        identifier: &str,
        xml: &[u8],
        known: Option<&str>,
    ) -> Result<String, Error> {
        let file =
            known.filter(|known| matches!(RecordPlace::of(known), Some(RecordPlace::File(_))));
        if self.is_of_files() {
            let filled = filled.unwrap_or_else(|| self.files.fill(identifier, xml));
            return self.files.place(filled?, identifier, file);
        }
        lock(&self.obsolete).extend(file.map(str::to_owned));
        match &self.writer {
            Writer::Files => unreachable!("files were placed"),
            Writer::Packs { writer, mark } => Ok(format!("{mark}{}", writer.add(xml)?)),
            Writer::Database { stem, rows } => {
                let xml = String::from_utf8(xml.to_vec()).map_err(|error| {
                    let error = std::io::Error::new(std::io::ErrorKind::InvalidData, error);
                    unreadable(Path::new(identifier), error)
                })?;
                let mut rows = lock(rows);
                let name = format!("{IN_DATABASE}{stem}-{}", rows.next);
                rows.next += 1;
                rows.bytes += xml.len();
                rows.added.push(RecordContent {
                    name: name.clone(),
                    xml,
                });
                Ok(name)
            }
        }
    }

    /// How many bytes of records wait in memory.
    pub(crate) fn waiting(&self) -> usize {
        match &self.writer {
            Writer::Database { rows, .. } => lock(rows).bytes,
            _ => 0,
        }
    }

    /// Reads a record, also one that is not committed yet.
    pub(crate) fn read(&self, file: &str) -> Option<Vec<u8>> {
        match (&self.writer, RecordPlace::of(file)?) {
            (
                Writer::Packs { writer, .. },
                RecordPlace::Pack(entry) | RecordPlace::Store(entry),
            ) => {
                if let Ok(Some(xml)) = writer.read(&entry) {
                    return Some(xml);
                }
            }
            (Writer::Database { rows, .. }, RecordPlace::Database(name)) => {
                let rows = lock(rows);
                if let Some(row) = rows.added.iter().find(|row| row.name == name) {
                    return Some(row.xml.clone().into_bytes());
                }
            }
            _ => {}
        }
        let read = self
            .holdings
            .read_record(self.repository, self.metadata_prefix, file);
        read.ok()
    }

    /// Whether a record is where the catalog says. Of a pack it is enough that it is there.
    pub(crate) fn has(&self, file: &str) -> bool {
        let pack = match RecordPlace::of(file) {
            None => return false,
            Some(RecordPlace::File(_)) => return self.files.absolute(file).exists(),
            // It goes with the record in one transaction.
            Some(RecordPlace::Database(_)) => return true,
            Some(RecordPlace::Pack(entry) | RecordPlace::Store(entry)) => entry.pack,
        };
        if let Some(known) = lock(&self.packs).get(&pack) {
            return *known;
        }
        let length = self
            .holdings
            .record_length(self.repository, self.metadata_prefix, file);
        let is_there = length.is_ok() || self.read(file).is_some();
        lock(&self.packs).insert(pack, is_there);
        is_there
    }

    /// Removes a record that the catalog is going to forget. Of a pack or the catalog, nothing is left to do: its bytes
    /// belong to nobody then.
    pub(crate) fn remove(&self, file: &str) -> Result<(), Error> {
        match RecordPlace::of(file) {
            Some(RecordPlace::File(_)) => self.files.remove(file),
            _ => Ok(()),
        }
    }

    /// Keeps what was held of a record that was deleted; returns its place, or `None` if somebody removed it.
    pub(crate) fn mark_deleted(&self, file: &str) -> Result<Option<String>, Error> {
        match RecordPlace::of(file) {
            Some(RecordPlace::File(_)) => self.files.mark_deleted(file),
            _ => Ok(Some(file.to_owned())),
        }
    }

    /// Ends a batch.
    pub(crate) fn end_batch(&self) -> Result<KeptBatch, Error> {
        let mut batch = KeptBatch {
            obsolete: std::mem::take(&mut *lock(&self.obsolete)),
            ..KeptBatch::default()
        };
        match &self.writer {
            Writer::Files => {}
            Writer::Packs { writer, .. } => batch.unwritten = Some(writer.end_batch()?),
            Writer::Database { rows, .. } => {
                let mut rows = lock(rows);
                rows.bytes = 0;
                batch.contents = std::mem::take(&mut rows.added);
            }
        }
        Ok(batch)
    }

    /// Writes what has to be there before the catalog speaks of a batch.
    pub(crate) fn write(&self, batch: &mut KeptBatch) -> Result<(), Error> {
        self.files.sync()?;
        match batch.unwritten.take() {
            Some(unwritten) => unwritten.write(),
            None => Ok(()),
        }
    }

    /// Removes what nobody speaks of when a batch is committed.
    pub(crate) fn committed(&self, batch: KeptBatch) -> Result<(), Error> {
        let mut obsolete = batch.obsolete.iter();
        obsolete.try_for_each(|file| self.files.remove(file))
    }
}

/// The directory of the packs of a repository and a format in a store.
pub(super) fn store_directory(repository: &Repository, metadata_prefix: &str) -> String {
    format!("{}/{}", repository.id, plain_name(metadata_prefix))
}
