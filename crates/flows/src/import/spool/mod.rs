//! Where the bytes of a document wait until it is known whether they are new: in memory, or in a file if they are many.
//!
//! They are digested on the way, so nothing is read twice.

pub(super) mod budget;

use std::io::{self, Read, Write};

use document::digest::{Digester, Digests};
use harvester::Stop;
use store::{Collection, NewFile};

use self::budget::{Budget, Share};

/// Holds bodies until they are stored or dropped. Threads share one.
#[derive(Debug)]
pub(super) struct Spool<'a> {
    budget: Budget,
    /// Where files are made; without one, bytes are digested and forgotten.
    collection: Option<&'a Collection>,
    /// A long body is not read to its end if the import is to stop.
    stop: &'a Stop,
}

/// The bytes of a document.
#[derive(Debug)]
pub(super) enum Spooled {
    /// In memory.
    Memory(Vec<u8>, Share),
    /// In a file that has no place yet.
    File(NewFile),
    /// Nowhere: only the digests were wanted.
    Nothing,
}

/// The reason that a body could not be spooled.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It cannot be read: its own fault.
    Read(io::Error),
    /// Somebody wants the import to stop.
    Stopped,
    /// It is too long for the file system.
    TooLong(io::Error),
    /// It cannot be written: nothing else could be either.
    Write(anyhow::Error),
}

impl<'a> Spool<'a> {
    pub(super) fn new(collection: Option<&'a Collection>, stop: &'a Stop) -> Self {
        Self {
            budget: Budget::new(MEMORY),
            collection,
            stop,
        }
    }

    /// Holds a text, in memory as long as there is room for it.
    pub(super) fn hold_text(&self, text: String) -> Result<Spooled, Trouble> {
        let Some(collection) = self.collection else {
            return Ok(Spooled::Nothing);
        };
        let mut bytes = text.into_bytes();
        bytes.shrink_to_fit();
        let mut share = self.budget.share();
        if bytes.len() <= LARGEST && share.grow_to(bytes.capacity()) {
            return Ok(Spooled::Memory(bytes, share));
        }
        let file = collection.create();
        let mut file = file.map_err(|error| Trouble::Write(error.into()))?;
        file.write_all(&bytes).map_err(unwritten)?;
        Ok(Spooled::File(file))
    }

    /// Reads a body to its end. `head` was read before.
    pub(super) fn hold(
        &self,
        head: &[u8],
        rest: &mut dyn Read,
    ) -> Result<(Spooled, Digests), Trouble> {
        let mut digester = Digester::default();
        digester.update(head);
        let mut held = Holding::new(self, head)?;
        let mut block = vec![0; BLOCK];
        loop {
            if self.stop.is_set() {
                return Err(Trouble::Stopped);
            }
            let length = match rest.read(&mut block) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Trouble::Read(error)),
            };
            digester.update(&block[..length]);
            held.push(&block[..length])?;
        }
        Ok((held.end(), digester.finish()))
    }
}

/// A body that is being read.
struct Holding<'a> {
    spool: &'a Spool<'a>,
    bytes: Vec<u8>,
    share: Share,
    file: Option<NewFile>,
}

impl<'a> Holding<'a> {
    fn new(spool: &'a Spool<'a>, head: &[u8]) -> Result<Self, Trouble> {
        let mut holding = Self {
            spool,
            bytes: Vec::new(),
            share: spool.budget.share(),
            file: None,
        };
        holding.push(head)?;
        Ok(holding)
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let Some(collection) = self.spool.collection else {
            return Ok(());
        };
        if let Some(file) = &mut self.file {
            return file.write_all(bytes).map_err(unwritten);
        }
        if self.fits(bytes.len()) {
            self.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        let mut file = collection
            .create()
            .map_err(|error| Trouble::Write(error.into()))?;
        file.write_all(&self.bytes).map_err(unwritten)?;
        file.write_all(bytes).map_err(unwritten)?;
        self.bytes = Vec::new();
        self.share = self.spool.budget.share();
        self.file = Some(file);
        Ok(())
    }

    /// Makes room for so many bytes more, if there is any.
    fn fits(&mut self, more: usize) -> bool {
        let length = self.bytes.len() + more;
        if length <= self.bytes.capacity() {
            return true;
        }
        let capacity = length.next_power_of_two();
        if capacity > LARGEST || !self.share.grow_to(capacity) {
            return false;
        }
        self.bytes.reserve_exact(capacity - self.bytes.len());
        true
    }

    fn end(self) -> Spooled {
        match (self.spool.collection, self.file) {
            (None, _) => Spooled::Nothing,
            (_, Some(file)) => Spooled::File(file),
            (_, None) => Spooled::Memory(self.bytes, self.share),
        }
    }
}

fn unwritten(error: io::Error) -> Trouble {
    if error.kind() == io::ErrorKind::FileTooLarge {
        return Trouble::TooLong(error);
    }
    let error = anyhow::Error::new(error);
    Trouble::Write(error.context("a document cannot be written to the collection"))
}

/// As many bytes of bodies are in memory at most.
const MEMORY: usize = 64 << 20;
/// A body that is longer is in a file.
const LARGEST: usize = 8 << 20;
const BLOCK: usize = 64 << 10;
