//! A source of captures: a file or a log of a crawl.

use std::ops::ControlFlow;
use std::path::Path;

use crate::archive::{self, Archive};
use crate::log::LogSource;
use crate::{Body, Capture, Error, Limits, Place, RawEvent, ReadOptions, RecordCheck};

/// Finds what there is to read at a path, by content.
///
/// A WACZ is one source for each archive in it. A directory is looked through in the order of names; links in it are not
/// followed, and what is no archive is left out. A file that is called as an archive is and cannot be read is a source
/// that tells so.
pub fn open(path: &Path, limits: &Limits) -> Result<Vec<Source>, Error> {
    archive::open(path, limits)
}

/// A file or a log that can be read.
#[derive(Debug)]
pub enum Source {
    /// A WARC or ARC file, or one in a WACZ.
    Archive(Archive),
    /// A log or a list, with the files that it speaks of or beside the archives that it speaks of.
    Log(LogSource),
}

impl Source {
    /// A name that no other source has: the path, or `PATH!MEMBER` in a WACZ.
    pub fn name(&self) -> String {
        match self {
            Self::Archive(archive) => archive.name(),
            Self::Log(log) => log.name(),
        }
    }

    /// Whether records can be read from it. An unreadable file that should be an archive is a source too, so that it
    /// is reported.
    pub fn is_readable(&self) -> bool {
        match self {
            Self::Archive(archive) => archive.is_readable(),
            Self::Log(_) => true,
        }
    }

    /// Why it is not read, if that is so and records may be lost with it.
    pub fn loss(&self) -> Option<&Skipped> {
        match self {
            Self::Archive(archive) => archive.loss(),
            Self::Log(_) => None,
        }
    }

    /// Whether it grows at its end alone, as crawlers write archives and logs. A WACZ is written anew, and a file that a
    /// line of a log names may come later than the line.
    pub fn is_appended_to(&self) -> bool {
        match self {
            Self::Archive(archive) => !archive.is_member(),
            Self::Log(log) => log.is_beside(),
        }
    }

    /// Whether it has no captures of its own, and only tells of those that others have.
    pub fn only_tells(&self) -> bool {
        matches!(self, Self::Log(log) if log.is_beside())
    }

    /// How many bytes there are to go through. Positions count in the same unit.
    ///
    /// For a file that is one compressed stream, these are expanded bytes, and the length is an estimate.
    pub fn length(&self) -> u64 {
        match self {
            Self::Archive(archive) => archive.length(),
            Self::Log(log) => log.length(),
        }
    }

    /// Reads from a position on; 0 is the beginning.
    ///
    /// `work` is run for each capture, on all threads and ahead of time; its body is empty for revisits. It sees what
    /// the record says, but not yet what others say of it. It may be run in vain, or twice, for a capture; what it made
    /// then is dropped. Its results are handed to `take` in the order of the source, which ends the reading by `Break`.
    /// The results are the same for any number of threads.
    pub fn read<T: Send>(
        &self,
        from: u64,
        options: &ReadOptions,
        work: &(dyn Fn(&Capture, &mut Body<'_>) -> T + Sync),
        take: &mut dyn FnMut(SourceEvent<T>) -> ControlFlow<()>,
    ) -> Result<Ended, Error> {
        match self {
            Self::Archive(archive) => archive.read(from, options, work, take),
            Self::Log(log) => log.read(from, options, work, take),
        }
    }

    /// Reads records as they are written, from an offset on, also those that are no captures. A log has none.
    pub fn records(
        &self,
        from: u64,
        options: &ReadOptions,
        take: &mut dyn FnMut(RawEvent<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        match self {
            Self::Archive(archive) => archive.records(from, options, take),
            Self::Log(_) => Ok(()),
        }
    }
}

/// An event while a source is read.
#[derive(Debug)]
pub enum SourceEvent<T> {
    /// A capture, with what its request and metadata records say, and what was made of it.
    Capture(Box<Capture>, T),
    /// A later statement about a capture that was handed over long before: its URL, parent, depth, whether it is a seed.
    Late(Box<Capture>),
    /// A request, metadata or other record whose digests were compared with its bytes.
    Checked(Box<RecordCheck>),
    /// Something that could not be read.
    Skipped(Skipped),
    /// Something that nothing is lost with, but that should be known.
    Noted(Skipped),
    /// All before it was handed over; reading can begin here another time. Nothing behind it was, but for a few captures
    /// where a crawler mixes the records of many without end: those come once more.
    Position(u64),
}

/// Bytes, a record or a line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The place.
    pub place: Place,
    /// How many bytes, if that is known.
    pub length: Option<u64>,
    /// Why.
    pub reason: String,
}

/// How the reading of a source ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The position at which reading can resume.
    pub position: u64,
    /// The last record is not complete, or what it is about has not come yet, and somebody is writing it.
    pub still_written: bool,
    /// It was stopped, or `take` had enough.
    pub stopped: bool,
}
