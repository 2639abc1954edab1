//! Takes one record out of an archive.

use std::io::{self, BufRead, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use crawl::{
    Body, Capture, HttpMessage, Limits, RawEvent, RawRecord, ReadOptions, Source, SourceEvent,
};

use document::media_type;

use crate::Failure;
use crate::import::coded::{self, Shown};

/// The record that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordWanted {
    /// The one that begins at this offset of the file.
    Offset(u64),
    /// The first response or resource with this URL, or else the first record of any kind.
    Url(String),
}

/// The part of a record that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordPart {
    /// The bytes of the resource: without the head of HTTP, its chunks and its content codings.
    Payload,
    /// The head of the record and, if there is one, that of HTTP.
    Headers,
    /// All of it as it is written, expanded.
    Record,
}

/// Writes a part of one record to `out`, and returns the record that it is from.
pub fn extract_record(
    path: &Path,
    wanted: &RecordWanted,
    part: RecordPart,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<RawRecord> {
    let mut missing = None;
    for source in super::open(path)? {
        match find(&source, wanted)? {
            Ok(record) => {
                write(&source, &record, part, out)?;
                return Ok(record);
            }
            Err(reason) => missing = missing.or(reason),
        }
    }
    let named = match wanted {
        RecordWanted::Offset(offset) => format!("no record begins at offset {offset}"),
        RecordWanted::Url(url) => format!("no record is of `{url}`"),
    };
    let reason: String = missing.iter().map(|reason| format!(": {reason}")).collect();
    let message = format!(
        "{named} of `{}`{reason}; garner warc index lists what there is",
        path.display()
    );
    bail!(Failure::new(Failure::NOT_FOUND, message))
}

/// The record that is wanted, or a reason that there is none.
fn find(
    source: &Source,
    wanted: &RecordWanted,
) -> anyhow::Result<Result<RawRecord, Option<String>>> {
    let (mut found, mut reason) = (None::<RawRecord>, None);
    let from = match wanted {
        RecordWanted::Offset(offset) => *offset,
        RecordWanted::Url(_) => 0,
    };
    source.records(from, &ReadOptions::default(), &mut |event| {
        match (event, wanted) {
            (RawEvent::Record(record, _), RecordWanted::Offset(offset)) => {
                found = Some(record.clone()).filter(|record| record.place.offset == *offset);
                return ControlFlow::Break(());
            }
            (RawEvent::Record(record, _), RecordWanted::Url(url)) if record.url == *url => {
                let is_resource = ["response", "resource"].contains(&record.kind.as_str());
                if is_resource || found.is_none() {
                    found = Some(record.clone());
                }
                if is_resource {
                    return ControlFlow::Break(());
                }
            }
            (RawEvent::Skipped(skipped), RecordWanted::Offset(_)) => {
                reason = Some(skipped.reason);
                return ControlFlow::Break(());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    Ok(found.ok_or(reason))
}

fn write(
    source: &Source,
    record: &RawRecord,
    part: RecordPart,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    if part == RecordPart::Payload && payload(source, record, out)? {
        return Ok(());
    }
    let mut written = Ok(());
    source.records(record.place.offset, &ReadOptions::default(), &mut |event| {
        if let RawEvent::Record(record, block) = event {
            written = raw(record, block, part, out);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    written.with_context(|| {
        format!(
            "the record at offset {} cannot be read",
            record.place.offset
        )
    })
}

/// Writes the decoded payload of a capture; whether the record is one.
fn payload(
    source: &Source,
    record: &RawRecord,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<bool> {
    let offset = record.place.offset;
    let out = Mutex::new((out, None::<io::Result<u64>>));
    let stop = Arc::new(AtomicBool::new(false));
    let options = ReadOptions {
        stop: Arc::clone(&stop),
        ..ReadOptions::default()
    };
    let work = |capture: &Capture, body: &mut Body<'_>| {
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        if capture.place.offset == offset && out.1.is_none() {
            let (to, copied) = &mut *out;
            *copied = Some(decoded(capture, body, &mut **to));
        }
        stop.store(true, Ordering::Relaxed);
    };
    source.read(offset, &options, &work, &mut |_: SourceEvent<()>| {
        ControlFlow::Break(())
    })?;
    let (_, copied) = out.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some(copied) = copied else {
        return Ok(false);
    };
    copied.with_context(|| format!("the record at offset {offset} cannot be read to its end"))?;
    Ok(true)
}

/// Writes a body, unless it has a coding that was not undone.
fn decoded(
    capture: &Capture,
    body: &mut Body<'_>,
    out: &mut (dyn Write + Send),
) -> io::Result<u64> {
    let mut head = Vec::new();
    body.by_ref()
        .take(media_type::HEAD as u64)
        .read_to_end(&mut head)?;
    if let Some(coding) = &capture.coding {
        let media_type = media_type::decide(capture.declared.as_deref(), &head);
        if coded::shows(coding, &media_type, &head) == Shown::Coded {
            let reason = coded::reason(coding);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
    }
    out.write_all(&head)?;
    Ok(head.len() as u64 + io::copy(body, out)?)
}

fn raw(
    record: &RawRecord,
    block: &mut dyn BufRead,
    part: RecordPart,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    if part == RecordPart::Record {
        out.write_all(&record.head)?;
        io::copy(block, out)?;
        return match record.is_arc() {
            true => out.write_all(b"\n"),
            false => out.write_all(b"\r\n\r\n"),
        };
    }
    let message = match record.kind.as_str() {
        "response" | "request" | "revisit" => HttpMessage::read(block, Limits::default().head)?,
        _ => HttpMessage::default(),
    };
    if part == RecordPart::Headers {
        out.write_all(&record.head)?;
        return out.write_all(&message.head);
    }
    out.write_all(&message.behind)?;
    io::copy(block, out)?;
    Ok(())
}
