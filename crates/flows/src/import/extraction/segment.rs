//! Document bytes as a WARC file with an index: a `resource` record for each content, the first time that it is met.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime};

use catalog::{CaptureRow, ContentRow};
use crawl::warc::{Record, RecordKind, Records};
use data_encoding::{BASE32, HEXLOWER};
use document::url::surt;
use oai::Datestamp;
use tempfile::NamedTempFile;

use super::super::spool::Spooled;
use crate::warc::CdxjLine;

/// A segment that is being written.
pub(super) struct SegmentWriter {
    records: Records<Counted>,
    /// Where the bytes of a SHA-1 begin.
    known: HashMap<String, u64>,
    lines: Vec<CdxjLine>,
}

impl SegmentWriter {
    pub(super) fn new(file: NamedTempFile) -> Self {
        let out = Counted {
            out: BufWriter::with_capacity(128 << 10, file),
            count: 0,
        };
        Self {
            records: Records::new(out, true),
            known: HashMap::new(),
            lines: Vec::new(),
        }
    }

    /// Adds the bytes of a capture, unless they are there; where they begin.
    pub(super) fn add(&mut self, row: &CaptureRow, held: &Spooled) -> io::Result<Option<u64>> {
        let ContentRow::Bytes { sha1, size, .. } = &row.content else {
            return Ok(None);
        };
        if let Some(offset) = self.known.get(sha1) {
            return Ok(Some(*offset));
        }
        let digest = HEXLOWER.decode(sha1.as_bytes()).map_err(io::Error::other)?;
        let digest: [u8; 20] = digest
            .try_into()
            .map_err(|_| io::Error::other("a SHA-1 has another length"))?;
        let seconds = u64::try_from(row.crawled).unwrap_or_default();
        let captured_at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        if self.known.is_empty() {
            self.records.begin(captured_at)?;
        }
        let offset = self.records.get_ref().count;
        let record = Record {
            kind: RecordKind::Resource,
            url: &row.url,
            captured_at,
            media_type: &row.media_type,
            sha1: digest,
            length: *size,
            refers_to: None,
        };
        self.records.write(&record, &mut *reader(held)?)?;
        let date = Datestamp::from_seconds(i64::try_from(seconds).unwrap_or_default()).to_string();
        self.lines.push(CdxjLine {
            key: surt(&row.url),
            timestamp: date.chars().filter(char::is_ascii_digit).collect(),
            url: row.url.clone(),
            mime: Some(row.media_type.clone()),
            status: None,
            digest: format!("sha1:{}", BASE32.encode(&digest)),
            length: self.records.get_ref().count - offset,
            offset,
            filename: String::new(),
        });
        self.known.insert(sha1.clone(), offset);
        Ok(Some(offset))
    }

    /// Ends the segment: its file, how many records it has, and the lines of its index.
    pub(super) fn finish(self) -> io::Result<(NamedTempFile, u64, Vec<CdxjLine>)> {
        let out = self.records.into_inner().out.into_inner();
        let file = out.map_err(io::IntoInnerError::into_error)?;
        let mut lines = self.lines;
        lines.sort_unstable();
        Ok((file, lines.len() as u64, lines))
    }
}

/// The bytes of a document, from their beginning.
pub(super) fn reader(held: &Spooled) -> io::Result<Box<dyn Read + '_>> {
    Ok(match held {
        Spooled::Memory(bytes, _) => Box::new(bytes.as_slice()),
        Spooled::File(file) => Box::new(FromStart {
            file: file.file(),
            at: 0,
        }),
        Spooled::Nothing => Box::new(io::empty()),
    })
}

/// Reads a file from its beginning, wherever it stands.
struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}

/// Counts what is written.
struct Counted {
    out: BufWriter<NamedTempFile>,
    count: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.out.write(bytes)?;
        self.count += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
