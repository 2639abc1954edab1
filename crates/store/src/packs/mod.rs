//! Packs: many records in one compressed file, each of which can be read alone.
//!
//! A pack is a sequence of gzip members, the blocks, of 64 KiB or one long record. So `zcat` prints all records of a pack,
//! and one record costs one read and the inflating of one block. Packs are only appended to, under a name that belongs to one
//! writer; who knows where a record lies in them is the catalog. Space is won back by copying what is still wanted.

mod entry;
mod writer;

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flate2::bufread::GzDecoder;

pub use self::entry::PackEntry;
pub use self::writer::{PackWriter, Unwritten};
use crate::directory::{Directory, Durability, lock};
use crate::place::Place;
use crate::{Error, Objects};

/// The packs in one directory, or among the objects of a store.
///
/// ```
/// use store::{Blocks, Durability, Packs};
///
/// let directory = tempfile::tempdir()?;
/// let packs = Packs::open(directory.path(), Durability::Page)?;
/// let writer = packs.writer("harvest-1");
/// let entry = writer.add(b"<record/>")?;
/// writer.end_batch()?.write()?;
/// assert_eq!(packs.read(&entry, &Blocks::default())?, b"<record/>");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Packs {
    place: Arc<Place>,
}

/// The blocks that were inflated last: lists read records in the order in which they were written.
#[derive(Debug, Default)]
pub struct Blocks(Mutex<VecDeque<(BlockKey, Arc<Vec<u8>>)>>);

/// The location of a block: that of the packs, the pack, the offset.
type BlockKey = (PathBuf, String, u64);

impl Packs {
    /// The packs in a directory, which is made if need be.
    pub fn open(directory: &Path, durability: Durability) -> Result<Self, Error> {
        Ok(Self::at(Place::Directory(Directory::open(
            directory, durability,
        )?)))
    }

    /// The packs in a directory that is there, to be read.
    pub fn existing(directory: &Path) -> Result<Self, Error> {
        let directory = Directory::existing(directory, Durability::None)?;
        Ok(Self::at(Place::Directory(directory)))
    }

    /// Packs among the objects of a store. They are filled in a directory on this machine first.
    pub fn of_objects(objects: Box<dyn Objects>, spool: &Path) -> Result<Self, Error> {
        let spool = Directory::open(spool, Durability::None)?;
        Ok(Self::at(Place::Objects { objects, spool }))
    }

    fn at(place: Place) -> Self {
        let place = Arc::new(place);
        Self { place }
    }

    /// A writer of packs whose names begin with `stem`, which nobody else may have used.
    pub fn writer(&self, stem: &str) -> PackWriter {
        PackWriter::new(self.clone(), stem.to_owned())
    }

    /// Reads a record.
    pub fn read(&self, entry: &PackEntry, blocks: &Blocks) -> Result<Vec<u8>, Error> {
        let key = || {
            let location = self.place.absolute("");
            (location, entry.pack.clone(), entry.block)
        };
        if let Some(block) = blocks.find(&key()) {
            return self.cut(&block, entry);
        }
        // Deflated bytes are at most a little longer than they were.
        let end = entry
            .end()
            .ok_or_else(|| self.damaged(entry, "its place"))?;
        let most = end.max(BLOCK as u64) + end / 1000 + SLACK;
        let packed = self.place.read_part(&entry.pack, entry.block, most)?;
        let mut decoder = GzDecoder::new(&packed[..]);
        let mut block = Vec::new();
        let read = decoder.by_ref().take(end).read_to_end(&mut block);
        read.map_err(|error| self.place.error("read", &entry.pack, error))?;
        // The rest of the block holds its checksum. It may lie behind what was read.
        let is_whole = match decoder.take(LONGEST_REST).read_to_end(&mut block) {
            Ok(rest) => (rest as u64) < LONGEST_REST,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(self.place.error("read", &entry.pack, error)),
        };
        let block = Arc::new(block);
        if is_whole && block.len() <= LONGEST_KEPT {
            blocks.keep(key(), Arc::clone(&block));
        }
        self.cut(&block, entry)
    }

    /// How many bytes a pack has, if it is there.
    pub fn size(&self, pack: &str) -> Result<Option<u64>, Error> {
        self.place.size(pack)
    }

    /// The names of all packs in a directory of packs.
    pub fn names(&self, directory: &str) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        self.place.names(directory, |name| {
            if !name.is_directory && name.name.ends_with(EXTENSION) {
                names.push(match directory {
                    "" => name.name.to_owned(),
                    directory => format!("{directory}/{}", name.name),
                });
            }
        })?;
        names.sort();
        Ok(names)
    }

    /// Removes a pack; whether there was one.
    pub fn remove(&self, pack: &str) -> Result<bool, Error> {
        self.place.remove(pack)
    }

    /// Returns the path of a pack in the file system or in the store.
    pub fn absolute(&self, pack: &str) -> PathBuf {
        self.place.absolute(pack)
    }

    fn cut(&self, block: &[u8], entry: &PackEntry) -> Result<Vec<u8>, Error> {
        let begin = usize::try_from(entry.offset).ok();
        let end = entry.end().and_then(|end| usize::try_from(end).ok());
        let record = begin
            .zip(end)
            .and_then(|(begin, end)| block.get(begin..end));
        let record = record.ok_or_else(|| self.damaged(entry, "the length of a block"))?;
        Ok(record.to_vec())
    }

    fn damaged(&self, entry: &PackEntry, what: &str) -> Error {
        let error = io::Error::new(io::ErrorKind::InvalidData, format!("{what} is not as said"));
        self.place.error("read", &entry.pack, error)
    }
}

impl Blocks {
    fn find(&self, key: &BlockKey) -> Option<Arc<Vec<u8>>> {
        let blocks = lock(&self.0);
        let found = blocks.iter().find(|(known, _)| known == key);
        found.map(|(_, block)| Arc::clone(block))
    }

    fn keep(&self, key: BlockKey, block: Arc<Vec<u8>>) {
        let mut blocks = lock(&self.0);
        blocks.push_front((key, block));
        blocks.truncate(MOST_KEPT);
    }
}

/// A block is closed when it is at least as long.
const BLOCK: usize = 64 << 10;
/// The beginning and the end of a gzip member, and room for a few bytes per stored block.
const SLACK: u64 = 4096;
/// Behind a record that was read, at most as much of its block is read to keep it.
const LONGEST_REST: u64 = 1 << 20;
const LONGEST_KEPT: usize = 1 << 20;
const MOST_KEPT: usize = 16;
const EXTENSION: &str = ".xml.gz";

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: usize) -> Vec<u8> {
        let length = match number % 97 {
            0 => 200_000,
            rest => rest * 20,
        };
        let text: String = (0..length)
            .map(|at| char::from(b'a' + ((at * (number + 7)) % 23) as u8))
            .collect();
        format!("<record n='{number}'>{text}</record>").into_bytes()
    }

    #[test]
    fn each_record_of_a_pack_is_read_alone_in_any_order() {
        let directory = tempfile::tempdir().unwrap();
        let packs = Packs::open(directory.path(), Durability::Page).unwrap();
        let writer = packs.writer("1-1-x");
        let mut entries = Vec::new();
        for number in 0..400 {
            let entry = writer.add(&record(number)).unwrap();
            // Before it is written, too.
            assert_eq!(writer.read(&entry).unwrap().unwrap(), record(number));
            entries.push(PackEntry::parse(&entry.to_string()).unwrap());
            if number % 150 == 149 {
                writer.end_batch().unwrap().write().unwrap();
            }
        }
        writer.end_batch().unwrap().write().unwrap();

        assert_eq!(packs.names("").unwrap(), ["1-1-x-0.xml.gz"]);
        let again = Packs::existing(directory.path()).unwrap();
        for step in [1, 7, 399] {
            for turn in 0..400 {
                let number = turn * step % 400;
                let read = again.read(&entries[number], &Blocks::default()).unwrap();
                assert_eq!(read, record(number));
            }
        }
        let kept = Blocks::default();
        for (number, entry) in entries.iter().enumerate() {
            assert_eq!(again.read(entry, &kept).unwrap(), record(number));
        }
        // Other programs read it as one file.
        let pack = std::fs::read(directory.path().join("1-1-x-0.xml.gz")).unwrap();
        let mut all = Vec::new();
        flate2::bufread::MultiGzDecoder::new(&pack[..])
            .read_to_end(&mut all)
            .unwrap();
        let lines: Vec<_> = (0..400)
            .flat_map(|number| [record(number), b"\n".to_vec()].concat())
            .collect();
        assert!(all == lines);
    }

    #[test]
    fn a_damaged_pack_is_an_error_and_never_other_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let packs = Packs::open(directory.path(), Durability::Page).unwrap();
        let writer = packs.writer("1-1-x");
        let entries: Vec<_> = (1..50).map(|n| writer.add(&record(n)).unwrap()).collect();
        writer.end_batch().unwrap().write().unwrap();
        let path = directory.path().join("1-1-x-0.xml.gz");
        let good = std::fs::read(&path).unwrap();

        for at in (0..good.len()).step_by(211) {
            let mut bad = good.clone();
            bad[at] ^= 0x20;
            std::fs::write(&path, bad).unwrap();
            for (number, entry) in (1..).zip(&entries) {
                if let Ok(read) = packs.read(entry, &Blocks::default()) {
                    assert_eq!(read, record(number), "byte {at}");
                }
            }
        }
        std::fs::write(&path, &good[..good.len() / 2]).unwrap();
        let last = entries.last().unwrap();
        assert!(packs.read(last, &Blocks::default()).is_err());
        std::fs::remove_file(&path).unwrap();
        let error = packs.read(last, &Blocks::default()).unwrap_err();
        assert!(error.is_missing(), "{error}");
    }

    #[test]
    fn entries_from_outside_are_checked() {
        for bad in [
            "",
            "a",
            "a.xml.gz",
            "a.xml.gz#1+2",
            "a.xml.gz#1+2+x",
            "../a.xml.gz#1+2+3",
            "/a.xml.gz#1+2+3",
            "a.xml.gz#1+18446744073709551615+3",
            "a.xml.gz#1+2+-3",
        ] {
            assert_eq!(PackEntry::parse(bad), None, "{bad}");
        }
    }
}
