//! How crawls are read, and how much of anything is borne with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Family, Roots};

/// How a source is read.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// How many threads read and work.
    pub threads: usize,
    /// Reading ends soon after this becomes true.
    pub stop: Arc<AtomicBool>,
    /// Compare also the digests of records whose bodies nobody asks for: unwanted captures, requests, metadata. Their
    /// block digest decides, or the payload digest if there is no other. Of blocks longer than 4 KiB about one in ten is
    /// compared, chosen by its digest; an uncompressed archive is not read for it.
    pub check_all: bool,
    /// With `check_all`, compare all of them, however long they are.
    pub check_long: bool,
    /// How much is borne with.
    pub limits: Limits,
    /// The archives that are searched for parts of records: the archive itself, if there are no others.
    pub family: Arc<Family>,
}

impl ReadOptions {
    /// Whether somebody wants the reading to end.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            threads: 1,
            stop: Arc::default(),
            check_all: false,
            check_long: false,
            limits: Limits::default(),
            family: Arc::default(),
        }
    }
}

/// How much is borne with of what others wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of the head of a record, or of HTTP.
    pub head: usize,
    /// The bytes of a line of a log or an ARC file.
    pub line: usize,
    /// How many times as long as the compressed bytes a decoded body may be, once it is more than 16 MiB.
    pub expansion: u64,
    /// The bytes that may come out of a body's content codings.
    pub decoded: u64,
    /// The bytes that a zstd frame may want remembered.
    pub zstd_window: u64,
    /// How many bytes of a file one thread takes at a time.
    pub segment: u64,
    /// The directories below which files may be opened.
    pub roots: Roots,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: 256 * 1024,
            line: 64 * 1024,
            expansion: 1000,
            decoded: 4 * 1024 * 1024 * 1024,
            zstd_window: 64 * 1024 * 1024,
            segment: 2 * 1024 * 1024,
            roots: Roots::default(),
        }
    }
}
