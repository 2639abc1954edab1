//! Finds what a log says of a capture that was read elsewhere.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::LogFormat;
use super::entry::Meaning;
use super::lines::Lines;
use super::sorter::{self, ROW, Row, Sorter};
use super::source::open_log;
use crate::{Capture, Error, Limits};

/// A log that can be looked up by URL and date.
///
/// A WARC or ARC file says less of a capture than the log of the same crawl.
#[derive(Debug)]
pub struct LogIndex {
    log: File,
    format: LogFormat,
    line: usize,
    hashes: RandomState,
    /// Rows of URL, date and offset, in order.
    rows: File,
    count: u64,
    /// The offset behind the last line that has an end.
    end: u64,
    /// The first row of each block.
    blocks: Vec<[u64; 2]>,
}

impl LogIndex {
    /// Reads a log once. It takes little memory, and room in the directory for temporary files: 48 bytes for each line.
    pub fn build(log: &Path, format: &LogFormat, limits: &Limits) -> Result<Self, Error> {
        let file = open_log(log, limits)?;
        Self::read(file, format, limits).map_err(|error| Error::file(log, error))
    }

    /// The offset up to which it was read: all lines before it have an end.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Adds what the capture lacks: parent, path, depth, seed, status, date, media type and digest. Of several lines about
    /// one URL the one nearest in time counts.
    pub fn complete(&self, capture: &mut Capture) {
        // A log that cannot be read any more adds nothing; what there is without it is not lost.
        let Ok(Some(line)) = self.find(&capture.url, capture.crawled) else {
            return;
        };
        fn add<T>(place: &mut Option<T>, value: Option<T>) {
            if place.is_none() {
                *place = value;
            }
        }
        add(&mut capture.parent, line.parent);
        add(&mut capture.path_from_seed, line.path_from_seed);
        add(&mut capture.depth, line.depth);
        add(&mut capture.is_seed, line.is_seed);
        add(&mut capture.status, line.status);
        add(&mut capture.crawled, line.crawled);
        add(&mut capture.declared, line.declared);
        add(&mut capture.digest, line.digest);
    }

    fn read(log: File, format: &LogFormat, limits: &Limits) -> io::Result<Self> {
        let hashes = RandomState::new();
        let mut sorter = Sorter::new();
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER, &log), 0, limits.line);
        let mut buffer = Vec::new();
        let (mut number, mut end) = (0, 0);
        while let Some(line) = lines.next(&mut buffer)? {
            if line.ended {
                end = line.offset + line.length;
            }
            if !line.too_long
                && number >= format.header_lines
                && let Meaning::Capture(entry) = format.read(&buffer)
            {
                let url = hashes.hash_one(&entry.capture.url);
                sorter.push([url, ordered(entry.capture.crawled), line.offset])?;
            }
            buffer.clear();
            number += 1;
        }

        let rows = tempfile::tempfile()?;
        let mut writer = BufWriter::with_capacity(BUFFER, &rows);
        let mut blocks = Vec::new();
        let mut count = 0;
        sorter.finish(|row| {
            if count % BLOCK == 0 {
                blocks.push([row[0], row[1]]);
            }
            count += 1;
            writer.write_all(&sorter::bytes(row))
        })?;
        writer.flush()?;
        drop(writer);
        Ok(Self {
            log,
            format: format.clone(),
            line: limits.line,
            hashes,
            rows,
            count,
            end,
            blocks,
        })
    }

    fn find(&self, url: &str, crawled: Option<i64>) -> io::Result<Option<Capture>> {
        let hash = self.hashes.hash_one(url);
        // Without a date the newest is as good as any.
        let date = crawled.map_or(u64::MAX, |crawled| ordered(Some(crawled)));
        let at = self.position(hash, date)?;
        let mut near = self.around(at)?;
        near.retain(|row| row[0] == hash);
        near.sort_by_key(|row| row[1].abs_diff(date));
        for row in near {
            if let Some(capture) = self.line(row[2])?.filter(|capture| capture.url == url) {
                return Ok(Some(capture));
            }
        }
        Ok(None)
    }

    /// The number of the first row that is not before a hash and a date.
    fn position(&self, hash: u64, date: u64) -> io::Result<u64> {
        let behind = self.blocks.partition_point(|block| *block < [hash, date]) as u64;
        let start = behind.saturating_sub(1) * BLOCK;
        let rows = self.rows(start, start + BLOCK)?;
        Ok(start + rows.partition_point(|row| [row[0], row[1]] < [hash, date]) as u64)
    }

    /// The rows around a number: enough to pass by URLs that have the same hash, and lines of the same second.
    fn around(&self, at: u64) -> io::Result<Vec<Row>> {
        self.rows(at.saturating_sub(NEAR), at + NEAR)
    }

    fn rows(&self, from: u64, to: u64) -> io::Result<Vec<Row>> {
        let to = to.min(self.count);
        let count = usize::try_from(to.saturating_sub(from)).unwrap_or(0);
        let mut bytes = vec![0; count * ROW];
        self.rows.read_exact_at(&mut bytes, from * ROW as u64)?;
        Ok(bytes.chunks_exact(ROW).filter_map(sorter::row).collect())
    }

    fn line(&self, offset: u64) -> io::Result<Option<Capture>> {
        let reader = At {
            file: &self.log,
            offset,
        };
        let mut lines = Lines::new(BufReader::with_capacity(4096, reader), offset, self.line);
        let mut buffer = Vec::new();
        lines.next(&mut buffer)?;
        Ok(match self.format.read(&buffer) {
            Meaning::Capture(entry) => Some(entry.capture),
            _ => None,
        })
    }
}

/// Reads a file from an offset, however many others do.
struct At<'f> {
    file: &'f File,
    offset: u64,
}

impl io::Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// A date as a number that has the same order; none comes first.
fn ordered(crawled: Option<i64>) -> u64 {
    crawled.map_or(0, |crawled| crawled.cast_unsigned() ^ 1 << 63)
}

/// Rows for each entry of the table in memory.
const BLOCK: u64 = 256;
const NEAR: u64 = 4;
const BUFFER: usize = 256 * 1024;
