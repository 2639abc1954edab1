//! Records as they are written, one after the other: for indexes, and to take one out.

use std::cell::{Cell, RefCell};
use std::io::{self, BufRead};
use std::ops::ControlFlow;

use super::heads::arc::ArcLine;
use super::heads::warc::{self, WarcHead};
use super::heads::{date, fields};
use super::open::layout::{Format, Layout};
use super::record::Keys;
use super::walk::{Halt, Item, Signal, Walk};
use super::{Archive, Opened};
use crate::{Body, Capture, Error, Place, ReadOptions, Skipped};

/// A record as it is written: of a WARC file, or of an ARC file as if it were one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawRecord {
    /// Where it begins.
    pub place: Place,
    /// Its type in small letters, such as `response`; an ARC file has `response` records and a `warcinfo` at its beginning.
    pub kind: String,
    /// `WARC-Record-ID`, with its brackets.
    pub id: String,
    /// The URL that it is about.
    pub url: String,
    /// When it was got, in the fourteen digits of indexes; empty if that is no date.
    pub timestamp: String,
    /// The media type of its block as it is written; of an ARC record, that of its payload.
    pub content_type: String,
    /// The digest of its payload, as it is written.
    pub payload_digest: Option<String>,
    /// Its head with the empty line, or the line of an ARC file.
    pub head: Vec<u8>,
    /// How many bytes its block has.
    pub length: u64,
    /// How many bytes of the file the record has, if the file is not compressed by record.
    pub stored: Option<u64>,
}

/// An event while records are read.
pub enum RawEvent<'a> {
    /// A record with its block, which need not be read.
    Record(&'a RawRecord, &'a mut dyn BufRead),
    /// All records before this offset were handed over. The next one begins here.
    Position(u64),
    /// Bytes that are no readable record.
    Skipped(Skipped),
}

/// The head of the HTTP message at the beginning of a block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpMessage {
    /// The head as it is written, with its empty line; empty if the block does not begin as HTTP does.
    pub head: Vec<u8>,
    /// Bytes that were read and belong to the body.
    pub behind: Vec<u8>,
}

/// Hears of a record and its block.
pub(super) type Visitor<'a> = Box<dyn FnMut(RawRecord, &mut dyn BufRead) + 'a>;

impl Archive {
    /// Reads records from an offset on, also those that are no captures.
    pub(crate) fn records(
        &self,
        from: u64,
        options: &ReadOptions,
        take: &mut dyn FnMut(RawEvent<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        match &self.0 {
            Ok(closed) => closed
                .open(options)
                .and_then(|opened| opened.records(from, options, take))
                .map_err(|error| Error::file(&closed.path, error)),
            Err(refusal) => {
                let _ = take(RawEvent::Skipped(refusal.skipped.clone()));
                Ok(())
            }
        }
    }
}

impl Opened {
    fn records(
        &self,
        from: u64,
        options: &ReadOptions,
        take: &mut dyn FnMut(RawEvent<'_>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let (keys, work) = (Keys::default(), |_: &Capture, _: &mut Body<'_>| ());
        let take = RefCell::new(take);
        let has_enough = Cell::new(false);
        let tell = |event: RawEvent<'_>| {
            let flow = (take.borrow_mut())(event);
            has_enough.set(has_enough.get() || flow.is_break());
        };
        let mut walk: Walk<'_, ()> = Walk::new(self, options, &keys, &work);
        walk.visitor = Some(Box::new(|record, block| {
            tell(RawEvent::Record(&record, block));
        }));
        let halt = walk.span(from, u64::MAX, &mut |signal| {
            match signal {
                Signal::Unit(at) => tell(RawEvent::Position(at)),
                Signal::Record {
                    item: Item::Skipped(skipped),
                    ..
                } => tell(RawEvent::Skipped(skipped)),
                Signal::Record { .. } => {}
            }
            match has_enough.get() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        if let (Halt::At(end) | Halt::StillWritten(end), false) = (halt, has_enough.get()) {
            tell(RawEvent::Position(end));
        }
        Ok(())
    }
}

impl RawRecord {
    /// The record that a head begins.
    pub(super) fn of(layout: &Layout, head: &[u8], length: u64, place: Place) -> Self {
        let is_expanded = layout.is_plain() || layout.whole;
        let record = Self {
            stored: is_expanded.then(|| length.saturating_add(head.len() as u64)),
            place,
            head: head.to_vec(),
            length,
            ..Self::default()
        };
        match layout.format {
            Format::Warc => record.of_warc(head),
            Format::Arc => record.of_arc(head),
        }
    }

    fn of_warc(self, head: &[u8]) -> Self {
        let Ok(parsed) = WarcHead::parse(head) else {
            return self;
        };
        let digest = fields::short(&parsed.payload_digest);
        Self {
            kind: fields::text(&parsed.kind).to_ascii_lowercase(),
            id: fields::text(&parsed.id),
            url: warc::url(&parsed.url),
            timestamp: digits(&parsed.date),
            content_type: fields::text(&parsed.content_type),
            payload_digest: digest,
            ..self
        }
    }

    fn of_arc(self, head: &[u8]) -> Self {
        let Ok(line) = ArcLine::parse(fields::first_line(head).0) else {
            return self;
        };
        let url = warc::url(line.url);
        let kind = match url.starts_with("filedesc:") {
            true => "warcinfo",
            false => "response",
        };
        Self {
            kind: kind.to_owned(),
            url,
            timestamp: digits(line.date),
            content_type: fields::text(line.media_type),
            ..self
        }
    }

    /// When it was got, in seconds since 1970.
    pub fn crawled(&self) -> Option<i64> {
        date::digits(self.timestamp.as_bytes())
    }

    /// Whether its head is the line of an ARC file.
    pub fn is_arc(&self) -> bool {
        !warc::begins(&self.head)
    }
}

impl HttpMessage {
    /// Reads the head of the message at the beginning of a block, at most `limit` bytes.
    pub fn read(block: &mut dyn BufRead, limit: usize) -> io::Result<Self> {
        let mut message = Self::default();
        let seen = &mut message.behind;
        loop {
            let before = seen.len();
            let room = (limit - before.min(limit)) as u64;
            io::Read::take(&mut *block, room).read_until(b'\n', seen)?;
            if before == 0 && !super::heads::http::begins(seen) {
                return Ok(message);
            }
            let line = &seen[before..];
            if line.is_empty() || line == b"\r\n" || line == b"\n" {
                break;
            }
        }
        message.head = std::mem::take(&mut message.behind);
        Ok(message)
    }

    /// The status of a response, as it is written.
    pub fn status(&self) -> Option<String> {
        let (line, _) = fields::first_line(&self.head);
        let mut words = line.split(u8::is_ascii_whitespace).skip(1);
        let word = words.find(|word| !word.is_empty())?;
        let is_status = word.len() == 3 && word.iter().all(u8::is_ascii_digit);
        is_status.then(|| fields::text(word))
    }

    /// The first field of a name.
    pub fn field(&self, wanted: &str) -> Option<String> {
        let mut found = None;
        fields::each(fields::first_line(&self.head).1, |name, value| {
            if found.is_none() && name.eq_ignore_ascii_case(wanted.as_bytes()) {
                found = Some(fields::text(&value));
            }
        });
        found
    }
}

/// A date in the fourteen digits of indexes.
fn digits(date: &[u8]) -> String {
    let digits = date.iter().copied().filter(u8::is_ascii_digit);
    digits.take(14).map(char::from).collect()
}
