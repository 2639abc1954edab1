//! Writes packs: records are added one by one, and what was added is written before the catalog speaks of it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::{BLOCK, EXTENSION, PackEntry, Packs};
use crate::directory::lock;
use crate::place::Place;
use crate::{Error, NewFile};

/// A writer of packs. Threads share it.
///
/// In a directory it appends to one file, and begins another when that is long; in a store each batch is an object.
#[derive(Debug)]
pub struct PackWriter {
    packs: Packs,
    stem: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next pack.
    next: u32,
    /// The pack that is being written.
    open: Option<Open>,
    /// Packs that were handed over and may not be there yet.
    handed_over: Option<(String, Arc<File>)>,
}

#[derive(Debug)]
struct Open {
    name: String,
    file: Arc<File>,
    /// In a store: the file to be put.
    spooled: Option<NewFile>,
    /// How many bytes of blocks were written.
    length: u64,
    block: Vec<u8>,
}

/// A batch that has to be written before the catalog speaks of it.
#[derive(Debug)]
#[must_use]
pub struct Unwritten(Kind);

#[derive(Debug)]
enum Kind {
    Nothing,
    /// The name of the file and its bytes have to reach the disk.
    Sync(Packs, Arc<File>),
    Put(Packs, String, NewFile),
}

impl PackWriter {
    pub(super) fn new(packs: Packs, stem: String) -> Self {
        Self {
            packs,
            stem,
            state: Mutex::default(),
        }
    }

    /// Adds a record and returns its place. It can be read by others when its batch is written.
    pub fn add(&self, record: &[u8]) -> Result<PackEntry, Error> {
        let mut state = lock(&self.state);
        if state.open.is_none() {
            state.open = Some(self.begin(state.next)?);
            state.next += 1;
        }
        let open = state.open.as_mut().expect("it was begun");
        let entry = PackEntry {
            pack: open.name.clone(),
            block: open.length,
            offset: open.block.len() as u64,
            length: record.len() as u64,
        };
        open.block.extend_from_slice(record);
        // For people who look into a pack with other programs.
        open.block.push(b'\n');
        if open.block.len() >= BLOCK {
            self.end_block(open)?;
        }
        Ok(entry)
    }

    /// Reads a record that this writer added and that may not be written yet; `None` if another added it, or if it is there
    /// for everybody.
    pub fn read(&self, entry: &PackEntry) -> Result<Option<Vec<u8>>, Error> {
        let mut state = lock(&self.state);
        if let Some(open) = state.open.as_mut().filter(|open| open.name == entry.pack) {
            if open.length == entry.block {
                return self.packs.cut(&open.block, entry).map(Some);
            }
            return self.read_back(&open.file, entry).map(Some);
        }
        match &state.handed_over {
            Some((name, file)) if *name == entry.pack => self.read_back(file, entry).map(Some),
            _ => Ok(None),
        }
    }

    /// Ends a batch. What was added has to be written before the catalog speaks of it.
    pub fn end_batch(&self) -> Result<Unwritten, Error> {
        let mut state = lock(&self.state);
        let Some(open) = &mut state.open else {
            return Ok(Unwritten(Kind::Nothing));
        };
        self.end_block(open)?;
        let packs = self.packs.clone();
        let Some(spooled) = open.spooled.take() else {
            let file = Arc::clone(&open.file);
            if open.length >= LONG {
                state.open = None;
            }
            return Ok(Unwritten(Kind::Sync(packs, file)));
        };
        let name = open.name.clone();
        state.handed_over = Some((name.clone(), Arc::clone(&open.file)));
        state.open = None;
        Ok(Unwritten(Kind::Put(packs, name, spooled)))
    }

    fn begin(&self, number: u32) -> Result<Open, Error> {
        let place = &self.packs.place;
        let name = format!("{}-{number}{EXTENSION}", self.stem);
        let new = place.create()?;
        let file = new.file().try_clone();
        let file = Arc::new(file.map_err(|error| place.error("written", &name, error))?);
        let spooled = match &**place {
            Place::Objects { .. } => Some(new),
            Place::Directory(_) => {
                if place.place_new(new, &name)?.is_some() {
                    let taken = std::io::ErrorKind::AlreadyExists.into();
                    return Err(place.error("written", &name, taken));
                }
                None
            }
        };
        Ok(Open {
            name,
            file,
            spooled,
            length: 0,
            block: Vec::with_capacity(2 * BLOCK),
        })
    }

    /// Writes the block that is open behind the others.
    fn end_block(&self, open: &mut Open) -> Result<(), Error> {
        if open.block.is_empty() {
            return Ok(());
        }
        let mut encoder = GzEncoder::new(Vec::with_capacity(BLOCK / 4), LEVEL);
        let packed = encoder
            .write_all(&open.block)
            .and_then(|()| encoder.finish());
        let packed = packed.and_then(|packed| {
            (*open.file).write_all_at(&packed, open.length)?;
            Ok(packed.len() as u64)
        });
        let error = |error| self.packs.place.error("written", &open.name, error);
        open.length += packed.map_err(error)?;
        open.block.clear();
        Ok(())
    }

    /// Reads a record of a block that was written here.
    fn read_back(&self, file: &File, entry: &PackEntry) -> Result<Vec<u8>, Error> {
        let error = |error| self.packs.place.error("read", &entry.pack, error);
        let length = file.metadata().map_err(error)?.len();
        let most = length.saturating_sub(entry.block);
        let mut packed = vec![0; usize::try_from(most).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut packed, entry.block)
            .map_err(error)?;
        let mut block = Vec::new();
        let end = entry.end().unwrap_or(u64::MAX);
        let read = GzDecoder::new(&packed[..])
            .take(end)
            .read_to_end(&mut block);
        read.map_err(error)?;
        self.packs.cut(&block, entry)
    }
}

impl Unwritten {
    /// Writes the batch and waits until it is safe.
    pub fn write(self) -> Result<(), Error> {
        match self.0 {
            Kind::Nothing => Ok(()),
            Kind::Sync(packs, file) => {
                if packs.place.is_durable() {
                    let synced = file.sync_data();
                    synced.map_err(|error| packs.place.error("synced", "", error))?;
                }
                packs.place.sync()
            }
            Kind::Put(packs, name, file) => match packs.place.place_new(file, &name)? {
                None => Ok(()),
                // The name is this writer's alone: an answer was lost, and the object was there when it was put again.
                Some(file) => {
                    let length = file.file().metadata();
                    let length = length.map_err(|error| packs.place.error("read", &name, error))?;
                    match packs.size(&name)? == Some(length.len()) {
                        true => Ok(()),
                        false => {
                            let taken = std::io::ErrorKind::AlreadyExists.into();
                            Err(packs.place.error("written", &name, taken))
                        }
                    }
                }
            },
        }
    }
}

/// Fast, and nearly as small as the best.
const LEVEL: Compression = Compression::new(3);
/// A file that is longer is not appended to any more, so that compaction rewrites parts.
const LONG: u64 = 256 << 20;
