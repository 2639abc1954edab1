//! The bytes of documents that are loaded: from the segment that was extracted with them, or from their source.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, bail};
use catalog::ImportCounters;
use crawl::{Body, Capture, Limits, ReadOptions, SourceEvent};
use document::container;
use document::digest::Digests;
use document::url::Rules;
use flate2::bufread::GzDecoder;

use super::super::examine::{Examiner, Finding};
use super::super::extraction::row::{DOCUMENT, Row};
use super::super::order::DigestRule;
use super::super::spool::{Spool, Spooled, Trouble};
use super::super::types::Types;
use super::results::{SourceResult, refusal};

/// Where the bytes are.
pub(super) enum DocumentBytes {
    Segment(File),
    Source(Vec<crawl::Source>),
    /// There are no documents.
    Nowhere,
}

/// The bytes of rows, by the place of the row, or why they cannot be had.
pub(super) type Held = HashMap<usize, Result<Spooled, String>>;

impl DocumentBytes {
    pub(super) fn open(one: &SourceResult) -> anyhow::Result<Self> {
        let facts = &one.entry.facts;
        if let Some(segment) = &facts.bytes {
            let path = one.name.bytes(segment);
            let shown = one.place.shown(&path);
            return match one.place.fetch(&path)? {
                Some(file) if file.metadata()?.len() == segment.size => Ok(Self::Segment(file)),
                Some(_) => Err(refusal(
                    &shown,
                    "it is damaged; remove it, and extract it again",
                )),
                None => Err(refusal(&shown, "it is not there; extract it again")),
            };
        }
        if !has_documents(&facts.counters) {
            return Ok(Self::Nowhere);
        }
        let path = Path::new(&one.entry.path);
        let size = std::fs::metadata(path).map(|metadata| metadata.len());
        if size.ok() != Some(facts.source_size) {
            let reason = "it is not here as it was extracted, and its bytes were not extracted; load where the file is, or extract with --bytes";
            return Err(refusal(&one.entry.path, reason));
        }
        let sources = crawl::open(path, &Limits::default())
            .with_context(|| format!("`{}` cannot be read", path.display()))?;
        Ok(Self::Source(sources))
    }

    /// The bytes of the documents among rows.
    pub(super) fn of(
        &mut self,
        rows: &[Row],
        one: &SourceResult,
        spool: &Spool<'_>,
    ) -> anyhow::Result<Held> {
        let documents = rows.iter().enumerate();
        let documents: Vec<_> = documents
            .filter(|(_, row)| row.row.as_deref() == Some(DOCUMENT))
            .collect();
        if documents.is_empty() {
            return Ok(Held::new());
        }
        match self {
            Self::Segment(file) => from_segment(file, &documents, spool),
            Self::Source(sources) => from_source(sources, &documents, one, spool),
            Self::Nowhere => Ok(Held::new()),
        }
    }
}

fn has_documents(counters: &ImportCounters) -> bool {
    counters.saved_new
        + counters.saved_duplicate
        + counters.filtered_dcf
        + counters.failed_text_extract
        + counters.failed_read
        > 0
}

fn from_segment(
    file: &mut File,
    documents: &[(usize, &Row)],
    spool: &Spool<'_>,
) -> anyhow::Result<Held> {
    let mut held = Held::new();
    for (at, row) in documents {
        let read = record(file, row);
        let (bytes, digests) = match read
            .map_err(Trouble::Read)
            .and_then(|mut body| spool.hold(&[], &mut body))
        {
            Ok(read) => read,
            Err(Trouble::Read(error) | Trouble::TooLong(error)) => {
                held.insert(
                    *at,
                    Err(format!("its extracted bytes cannot be read: {error}")),
                );
                continue;
            }
            Err(Trouble::Stopped) => bail!("stopped"),
            Err(Trouble::Write(error)) => return Err(error),
        };
        held.insert(*at, checked(row, bytes, &digests));
    }
    Ok(held)
}

/// The body of the record of a segment that a row names.
fn record<'f>(file: &'f mut File, row: &Row) -> io::Result<impl Read + use<'f>> {
    let wrong = |reason: &str| io::Error::new(io::ErrorKind::InvalidData, reason);
    let offset = row.bytes_offset.and_then(|offset| offset.try_into().ok());
    let offset: u64 = offset.ok_or_else(|| wrong("the row names no record"))?;
    file.seek(SeekFrom::Start(offset))?;
    let member = GzDecoder::new(BufReader::with_capacity(64 << 10, file));
    let mut record = BufReader::new(member);
    let mut head = Vec::new();
    loop {
        let before = head.len();
        let length = (&mut record).take(HEAD).read_until(b'\n', &mut head)?;
        if length == 0 || head.len() > LONGEST_HEAD {
            return Err(wrong("no record begins there"));
        }
        if head[before..] == *b"\r\n" {
            break;
        }
    }
    if !head.starts_with(b"WARC/") {
        return Err(wrong("no record begins there"));
    }
    Ok(record.take(row.size().unwrap_or_default()))
}

/// Reads the captures that rows are from once more.
fn from_source(
    sources: &[crawl::Source],
    documents: &[(usize, &Row)],
    one: &SourceResult,
    spool: &Spool<'_>,
) -> anyhow::Result<Held> {
    let options = &one.entry.facts.options;
    let examiner = Examiner {
        rules: Rules::default().with_max_length(options.max_url_length),
        types: Types::new(&options.types),
        open: options.open,
        digests: DigestRule::Ignore,
        judging: None,
        spool,
        limits: container::Limits::default(),
    };
    let mut held = Held::new();
    for source in sources {
        let name = source.name();
        let archive = name
            .strip_prefix(&one.entry.path)
            .and_then(|rest| rest.strip_prefix('!'));
        let wanted: Vec<_> = documents
            .iter()
            .filter(|(_, row)| row.archive.as_deref() == archive)
            .collect();
        let offsets: HashSet<u64> = wanted
            .iter()
            .filter_map(|(_, row)| row.record_offset.and_then(|offset| offset.try_into().ok()))
            .collect();
        let (Some(first), Some(last)) = (offsets.iter().min(), offsets.iter().max()) else {
            continue;
        };
        let work = |capture: &Capture, body: &mut Body<'_>| {
            let is_wanted = offsets.contains(&capture.place.offset);
            is_wanted.then(|| examiner.examine(capture, body))
        };
        let mut error = None;
        let read = source.read(*first, &ReadOptions::default(), &work, &mut |event| {
            match event {
                SourceEvent::Capture(capture, Some(Finding::Documents { found, .. })) => {
                    for document in found {
                        let sha1 = document.digests.sha1_hex();
                        let row = wanted.iter().find(|(at, row)| {
                            !held.contains_key(at)
                                && row.sha1.as_ref() == Some(&sha1)
                                && row.member == document.member
                                && row.record_offset.and_then(|at| at.try_into().ok())
                                    == Some(capture.place.offset)
                        });
                        if let Some((at, row)) = row {
                            held.insert(*at, checked(row, document.held, &document.digests));
                        }
                    }
                }
                SourceEvent::Capture(_, Some(Finding::Fatal(fatal))) => {
                    error = Some(fatal);
                    return ControlFlow::Break(());
                }
                SourceEvent::Capture(_, Some(Finding::Stopped)) => return ControlFlow::Break(()),
                SourceEvent::Position(position) if position > *last => {
                    return ControlFlow::Break(());
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
        if let Some(error) = error {
            return Err(error);
        }
        read.with_context(|| format!("`{name}` cannot be read"))?;
    }
    for (at, _) in documents {
        held.entry(*at)
            .or_insert_with(|| Err("its source has other bytes than were extracted".to_owned()));
    }
    Ok(held)
}

/// Bytes, if they are those that the row speaks of.
fn checked(row: &Row, held: Spooled, digests: &Digests) -> Result<Spooled, String> {
    let is_same = row.sha1.as_deref() == Some(digests.sha1_hex().as_str())
        && row.sha256.as_deref() == Some(digests.sha256_hex().as_str());
    match is_same {
        true => Ok(held),
        false => Err("its bytes are not those that were extracted".to_owned()),
    }
}

const HEAD: u64 = 64 << 10;
const LONGEST_HEAD: usize = 256 << 10;
