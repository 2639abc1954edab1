//! Records, wherever they are kept: in files, in packs of the data directory or of a store, or in the catalog.
//!
//! The `file` of a record says where: a path below the directory of its repository and format, or
//! `~packs/NAME#BLOCK+OFFSET+LENGTH`, `~store/REPOSITORY/FORMAT/NAME#…`, `~database/NAME`. No path of a file begins like these,
//! because `~` is escaped in them.

mod keeper;
mod moving;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};
use beneath::{open_file, open_parent};
use catalog::{IN_DATABASE, IN_PACKS, IN_STORE, RecordStore, RecordWay, Repository};
use store::{Blocks, Error, PackEntry, Packs, Reader};

pub(crate) use self::keeper::{KeptBatch, RecordKeeper};
pub use self::moving::{RecordMove, RecordsMoved, move_records};
pub(crate) use self::moving::{compact_if_due, packs_in_store};
use crate::Holdings;
use crate::import::{Location, objects};

/// Where a record is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordPlace<'a> {
    /// In a file below the directory of its repository and format.
    File(&'a Path),
    /// In a pack beside these files.
    Pack(PackEntry),
    /// In a pack of the store.
    Store(PackEntry),
    /// In the catalog, under the name that its `file` has.
    Database(&'a str),
}

/// The packs that were opened last to read records, and the blocks that were inflated last.
#[derive(Debug, Default)]
pub(crate) struct OpenPacks {
    blocks: Blocks,
    directories: Mutex<Vec<(PathBuf, Packs)>>,
    store: Mutex<Option<(String, Packs)>>,
    /// The store for people, as far as it is known here: some ask who cannot wait for the catalog.
    shown: Mutex<Option<String>>,
    /// The sizes of packs of the store that were seen.
    sizes: Mutex<HashMap<String, u64>>,
}

impl OpenPacks {
    /// Notes the store that the catalog names.
    pub(crate) fn know(&self, store: &str) {
        let location = Location::given(store).ok();
        *lock(&self.shown) = location.map(|location| location.shown());
    }
}

impl<'a> RecordPlace<'a> {
    /// The place that the `file` of a record names. A text that begins like a pack and names none is no place of a file
    /// either.
    pub(crate) fn of(file: &'a str) -> Option<Self> {
        if let Some(entry) = file.strip_prefix(IN_PACKS) {
            return PackEntry::parse(entry).map(Self::Pack);
        }
        if let Some(entry) = file.strip_prefix(IN_STORE) {
            return PackEntry::parse(entry).map(Self::Store);
        }
        match file.starts_with(IN_DATABASE) {
            true => Some(Self::Database(file)),
            false => Some(Self::File(Path::new(file))),
        }
    }

    /// Whether it is where the records go.
    pub(crate) fn is_in(&self, to: &RecordStore) -> bool {
        match (self, to.way) {
            (Self::File(_), RecordWay::Files) | (Self::Database(_), RecordWay::Database) => true,
            (Self::Pack(_), RecordWay::Packs) => to.store.is_empty(),
            (Self::Store(_), RecordWay::Packs) => !to.store.is_empty(),
            _ => false,
        }
    }
}

impl Holdings {
    /// Opens the XML of a record.
    pub fn open_record(
        &self,
        repository: &Repository,
        metadata_prefix: &str,
        file: &str,
    ) -> Result<Reader, Error> {
        let bytes = match self.place_of(repository, metadata_prefix, file)? {
            RecordPlace::File(path) => {
                let directory = self.record_directory(repository, metadata_prefix);
                let opened = open_below(&directory, path);
                let opened = opened.and_then(|file| Ok((file.metadata()?.len(), file)));
                let (length, file) =
                    opened.map_err(|error| unreadable(&directory.join(path), error))?;
                return Ok(Reader::new(Box::new(file), length));
            }
            RecordPlace::Pack(entry) => {
                let packs = self.packs_beside(repository, metadata_prefix)?;
                packs.read(&entry, &self.packs().blocks)?
            }
            RecordPlace::Store(entry) => {
                let packs = self.stored_packs()?;
                packs.read(&entry, &self.packs().blocks)?
            }
            RecordPlace::Database(name) => self.content(name)?,
        };
        let length = bytes.len() as u64;
        Ok(Reader::new(Box::new(Cursor::new(bytes)), length))
    }

    /// Reads the XML of a record, which is never longer than 64 MiB.
    pub fn read_record(
        &self,
        repository: &Repository,
        metadata_prefix: &str,
        file: &str,
    ) -> Result<Vec<u8>, Error> {
        let reader = self.open_record(repository, metadata_prefix, file)?;
        let mut bytes = Vec::new();
        let read = reader.take(LONGEST).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(Path::new(file), error))?;
        Ok(bytes)
    }

    /// How many bytes the XML of a record has, if it is there. Only its place is looked at.
    pub fn record_length(
        &self,
        repository: &Repository,
        metadata_prefix: &str,
        file: &str,
    ) -> Result<u64, Error> {
        let is_there = |packs: Packs, entry: &PackEntry, size| match size {
            Some(size) if size > entry.block => Ok(entry.length),
            _ => Err(unreadable(
                &packs.absolute(&entry.pack),
                ErrorKind::NotFound.into(),
            )),
        };
        match self.place_of(repository, metadata_prefix, file)? {
            RecordPlace::Pack(entry) => {
                let packs = self.packs_beside(repository, metadata_prefix)?;
                let size = packs.size(&entry.pack)?;
                is_there(packs, &entry, size)
            }
            RecordPlace::Store(entry) => {
                let known = lock(&self.packs().sizes).get(&entry.pack).copied();
                if known.is_some_and(|size| size > entry.block) {
                    return Ok(entry.length);
                }
                let packs = self.stored_packs()?;
                let size = packs.size(&entry.pack)?;
                let mut sizes = lock(&self.packs().sizes);
                if sizes.len() >= MOST_SIZES {
                    sizes.clear();
                }
                sizes.extend(size.map(|size| (entry.pack.clone(), size)));
                drop(sizes);
                is_there(packs, &entry, size)
            }
            _ => Ok(self
                .open_record(repository, metadata_prefix, file)?
                .length()),
        }
    }

    /// The path of a record for people, or of the pack that it lies in. A record in the catalog has none.
    pub fn record_path(
        &self,
        repository: &Repository,
        metadata_prefix: &str,
        file: &str,
    ) -> Option<PathBuf> {
        let directory = || self.record_directory(repository, metadata_prefix);
        match RecordPlace::of(file)? {
            RecordPlace::File(path) => beneath::is_plain(path).then(|| directory().join(path)),
            RecordPlace::Pack(entry) => Some(directory().join(PACKS).join(entry.pack)),
            RecordPlace::Store(entry) => {
                let store = lock(&self.packs().shown).clone()?;
                Some(Path::new(&store).join(RECORDS).join(entry.pack))
            }
            RecordPlace::Database(_) => None,
        }
    }

    /// Says where the records of repositories go that are harvested from now on, unless these say it themselves: `store` is
    /// `s3://BUCKET/PREFIX`. With a store, packs are the default.
    pub fn settle_records(
        &self,
        way: Option<RecordWay>,
        store: Option<&str>,
    ) -> anyhow::Result<()> {
        let known = self.wait(self.catalog().default_record_store())?;
        let store = match store {
            Some(store) if !Location::is_meant(store) => {
                bail!("store: write s3://BUCKET/PREFIX, not `{store}`")
            }
            Some(store) => Some(Location::given(store)?.whole()),
            None => None,
        };
        if let Some(store) = &store
            && *store != known.store
        {
            // A store may have moved to another server; then the bucket and the names in it are the same.
            let is_same = !known.store.is_empty()
                && Location::given(&known.store)?.shown() == Location::given(store)?.shown();
            if !is_same && self.wait(self.catalog().has_stored_records())? {
                bail!(
                    "the records of this catalog lie in `{}`, not in `{store}`; leave store as it was, or move them with garner repository move-records",
                    known.store
                );
            }
            // Obstacles are found now, not by every harvest.
            drop(objects(store)?);
        }
        let is_first = known.store.is_empty() && store.is_some();
        let way = way.or_else(|| is_first.then_some(RecordWay::Packs));
        let settled = self.catalog().settle_record_store(way, store.as_deref());
        self.wait(settled)?;
        self.packs().know(store.as_deref().unwrap_or(&known.store));
        Ok(())
    }

    /// Whether other machines reach the records of a repository without a directory in common; of `0`, those of repositories
    /// that do not say it themselves.
    pub fn are_records_shared(&self, repository: i64) -> anyhow::Result<bool> {
        let to = self.wait(self.catalog().record_store(repository))?;
        Ok(match to.way {
            RecordWay::Files => false,
            RecordWay::Packs => !to.store.is_empty(),
            RecordWay::Database => true,
        })
    }

    fn place_of<'a>(
        &self,
        repository: &Repository,
        metadata_prefix: &str,
        file: &'a str,
    ) -> Result<RecordPlace<'a>, Error> {
        RecordPlace::of(file).ok_or_else(|| {
            let directory = self.record_directory(repository, metadata_prefix);
            let odd = io::Error::new(ErrorKind::InvalidData, "it names no record");
            unreadable(&directory.join(file), odd)
        })
    }

    /// The packs in the directory of a repository and a format.
    pub(crate) fn packs_beside(
        &self,
        repository: &Repository,
        metadata_prefix: &str,
    ) -> Result<Packs, Error> {
        let directory = self
            .record_directory(repository, metadata_prefix)
            .join(PACKS);
        let mut open = lock(&self.packs().directories);
        if let Some(at) = open.iter().position(|(known, _)| *known == directory) {
            return Ok(open[at].1.clone());
        }
        let packs = Packs::existing(&directory)?;
        open.insert(0, (directory, packs.clone()));
        open.truncate(MOST_OPEN);
        Ok(packs)
    }

    /// The packs in the store.
    pub(crate) fn stored_packs(&self) -> Result<Packs, Error> {
        let mut open = lock(&self.packs().store);
        let store = self.wait(self.catalog().default_record_store());
        let store =
            store.map_err(|error| unreadable(Path::new("store"), io::Error::other(error)))?;
        let store = store.store;
        if let Some((known, packs)) = &*open
            && *known == store
        {
            return Ok(packs.clone());
        }
        let objects = objects_below(&store, RECORDS);
        let objects = objects.map_err(|error| {
            let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
            let message = crate::message(&error);
            let error = io::Error::new(kind.unwrap_or(ErrorKind::Other), message);
            Error::Io {
                action: "reached",
                path: PathBuf::from("the store of records"),
                source: error,
            }
        })?;
        let packs = Packs::of_objects(objects, &self.directory().join("spool"))?;
        self.packs().know(&store);
        *open = Some((store, packs.clone()));
        Ok(packs)
    }

    fn content(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = Path::new(name);
        let content = self.wait(self.catalog().record_content(name));
        let content = content.map_err(|error| unreadable(path, io::Error::other(error)))?;
        let content = content.ok_or_else(|| unreadable(path, ErrorKind::NotFound.into()))?;
        Ok(content.into_bytes())
    }
}

/// The objects below a name in a store.
pub(crate) fn objects_below(store: &str, name: &str) -> anyhow::Result<Box<dyn store::Objects>> {
    let place = Location::given(store)?.below(name).whole();
    objects(&place)?.context("there is no store of records; name one as store in the configuration")
}

/// Opens a file below a directory, and nothing else: no link is followed.
fn open_below(directory: &Path, path: &Path) -> io::Result<File> {
    let base = File::open(directory)?;
    let (parent, name) = open_parent(&base, path, false)?;
    let file = File::from(open_file(&parent, name)?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no file")),
    }
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::Io {
        action: "read",
        path: path.to_owned(),
        source,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The directory of packs beside the files of records.
pub(crate) const PACKS: &str = "~packs";
/// The directory of records in a store.
const RECORDS: &str = "records";
/// Of a longer record nothing is taken anyway.
const LONGEST: u64 = 64 << 20;
/// How many sizes of packs are remembered.
const MOST_SIZES: usize = 10_000;
/// How many directories of packs are held open.
const MOST_OPEN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_one_kind_of_place_and_never_out_of_it() {
        let holdings = tempfile::tempdir().unwrap();
        let holdings = Holdings::create(holdings.path(), None).unwrap();
        let identity = catalog::Identity::default();
        let catalog = holdings.catalog();
        let added = catalog.add_repository("http://a.example/oai", "records/a", &identity);
        let repository = holdings.wait(added).unwrap();
        let directory = holdings.record_directory(&repository, "oai_dc");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("a.xml"), "<a/>").unwrap();
        std::fs::write(holdings.directory().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(holdings.directory().join("secret"), directory.join("l"))
            .unwrap();
        let read = |file: &str| holdings.read_record(&repository, "oai_dc", file);

        assert_eq!(read("a.xml").unwrap(), b"<a/>");
        for bad in [
            "l",
            ".",
            "",
            "../../../secret",
            "missing.xml",
            "~packs/x",
            "~packs/../a.xml.gz#0+0+1",
            "~packs/1-1-a-0.xml.gz#0+0+1",
            "~store/1/oai_dc/1-1-a-0.xml.gz#0+0+1",
            "~database/1",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(RecordPlace::of("~packs/x"), None);
    }
}
