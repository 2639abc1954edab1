//! Which lines speak of files that later lines overwrote.
//!
//! A mirror has one file for a URL, and one for all URLs that lead to the same path: with http and https, with and
//! without a question mark. It holds what was written last. One pass over the log finds out which line that is; two bits
//! for each line are kept.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hash, Hasher};
use std::io::{self, BufReader};

use super::LogFormat;
use super::entry::{Entry, Meaning};
use super::lines::Lines;
use super::mirror;
use super::sorter::{Row, Sorter};
use crate::{Kind, ReadOptions};

/// The fate of the file of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is the line's own.
    Kept,
    /// A later version of the same URL is there.
    Renewed,
    /// The file of another URL is there.
    Lost,
}

/// The fates of all lines, by their numbers.
#[derive(Debug)]
pub(super) struct Superseded {
    bits: Vec<u64>,
    /// The number of the first line at or behind the place where reading begins.
    pub(super) first: u64,
}

impl Superseded {
    /// All lines have their files; reading begins with the line of a number.
    pub(super) fn none(first: u64) -> Self {
        Self {
            bits: Vec::new(),
            first,
        }
    }

    /// Reads a log once, from its beginning.
    pub(super) fn read(
        log: &File,
        from: u64,
        format: &LogFormat,
        options: &ReadOptions,
    ) -> io::Result<Self> {
        let mut lines = Lines::new(
            BufReader::with_capacity(BUFFER, log),
            0,
            options.limits.line,
        );
        let hashes = RandomState::new();
        let mut sorter = Sorter::new();
        let mut buffer = Vec::new();
        let (mut number, mut first) = (0, 0);
        while let Some(line) = lines.next(&mut buffer)? {
            if !line.too_long
                && number >= format.header_lines
                && let Meaning::Capture(entry) = format.read(&buffer)
                && let Some(row) = row(&entry, number, &hashes)
            {
                sorter.push(row)?;
            }
            buffer.clear();
            number += 1;
            if line.offset < from {
                first = number;
            }
            if options.stopped() {
                break;
            }
        }
        Self::sorted(sorter, number, first)
    }

    /// Returns the fate of the file of line `number`, counted from 0. Lines that were added since are not known.
    pub(super) fn fate(&self, number: u64) -> Fate {
        let word = usize::try_from(number / 32)
            .ok()
            .and_then(|at| self.bits.get(at));
        match word.map_or(0, |word| word >> (number % 32 * 2) & 3) {
            1 => Fate::Renewed,
            2 => Fate::Lost,
            _ => Fate::Kept,
        }
    }

    fn sorted(sorter: Sorter, lines: u64, first: u64) -> io::Result<Self> {
        let words = usize::try_from(lines / 32 + 1).unwrap_or(0);
        let mut bits: Vec<u64> = vec![0; words];
        // Rows of one path follow each other, that of the last line first.
        let mut last: Option<Row> = None;
        sorter.finish(|row| {
            let [path, number, facts] = row;
            match last {
                Some([last_path, _, last_facts]) if last_path == path => {
                    let number = !number;
                    let at = usize::try_from(number / 32).unwrap_or(usize::MAX);
                    if let Some(word) = bits.get_mut(at) {
                        *word |= judged(facts, last_facts) << (number % 32 * 2);
                    }
                }
                _ => last = Some(row),
            }
            Ok(())
        })?;
        Ok(Self { bits, first })
    }
}

/// The path, the number, the later the smaller, and hashes of URL and digest.
fn row(entry: &Entry, number: u64, hashes: &RandomState) -> Option<Row> {
    // A response without a body is not written, and overwrites nothing.
    let has_body = entry.size != Some(0) && entry.capture.status != Some(304);
    if !has_body || entry.capture.kind != Kind::Document {
        return None;
    }
    let path = match &entry.file {
        Some(file) => hashes.hash_one(file),
        None => {
            let path = mirror::paths(&entry.capture.url).next()?;
            let mut hasher = hashes.build_hasher();
            for segment in &path {
                segment.name(None).hash(&mut hasher);
            }
            hasher.finish()
        }
    };
    let half = |hash: u64| hash & 0xFFFF_FFFF;
    let url = half(hashes.hash_one(&entry.capture.url));
    // No digest is none, and differs from every other.
    let digest = entry.capture.digest.as_ref();
    let digest = digest.map_or(0, |digest| half(hashes.hash_one(digest)).max(1));
    Some([path, !number, url << 32 | digest])
}

/// The bits of a line whose path a later one has, too.
fn judged(facts: u64, last: u64) -> u64 {
    let (digest, last_digest) = (facts & 0xFFFF_FFFF, last & 0xFFFF_FFFF);
    match digest != 0 && digest == last_digest {
        true => 0,
        false if facts >> 32 == last >> 32 => 1,
        false => 2,
    }
}

const BUFFER: usize = 256 * 1024;
