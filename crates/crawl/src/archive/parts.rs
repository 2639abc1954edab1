//! Records in parts (WARC 1.1, 5.19 and 6.8): the first one and its continuations, which may lie in other files, are put
//! together in a temporary file and read from there as one record.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use super::block::{Block, Fault};
use super::heads::fields;
use super::heads::warc::WarcHead;
use super::input::Extent;
use super::open::layout::{Codec, Format, Layout};
use super::record::{Keys, Record};
use super::walk::{Item, Signal, Start, Walk};
use super::{Archive, Closed, Opened};
use crate::{Body, Capture, ReadOptions, Skipped, Source};

/// The archives that a record in parts may be in.
#[derive(Debug, Default)]
pub struct Family {
    archives: Vec<Closed>,
    index: OnceLock<Arc<Index>>,
}

impl Family {
    /// All archives of these sources.
    pub fn of(sources: &[Source]) -> Self {
        let archives = sources.iter().filter_map(|source| match source {
            Source::Archive(Archive(Ok(closed))) => Some(closed.clone()),
            _ => None,
        });
        Self {
            archives: archives.collect(),
            index: OnceLock::new(),
        }
    }

    /// Returns the index of the parts: of all archives of the import, or of this one alone.
    fn index(&self, archive: &Opened, options: &ReadOptions) -> Arc<Index> {
        if self.archives.is_empty() {
            let mut index = Index::default();
            index.add(archive, options);
            return Arc::new(index);
        }
        let all = || {
            let mut index = Index::default();
            for closed in &self.archives {
                // An unreadable archive is reported when its turn comes.
                if let Ok(archive) = closed.open(options) {
                    index.add(&archive, options);
                }
            }
            Arc::new(index)
        };
        Arc::clone(self.index.get_or_init(all))
    }
}

/// The parsed head of a part.
#[derive(Debug)]
pub(super) struct PartHead {
    number: u64,
    /// The name of the first part.
    origin: Vec<u8>,
    /// The length of all, which the last part has.
    total: Option<u64>,
    /// The head of the first part, with what is not about the part.
    head: Vec<u8>,
}

impl PartHead {
    /// `None` if a record is whole.
    pub(super) fn of(head: &WarcHead<'_>, bytes: &[u8]) -> Option<Box<Self>> {
        let is_later = head.kind.eq_ignore_ascii_case(b"continuation");
        if head.segment.is_empty() && !is_later {
            return None;
        }
        let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.trim().parse().ok();
        let origin = match is_later {
            true => &head.segment_origin,
            false => &head.id,
        };
        Some(Box::new(Self {
            number: match is_later {
                true => number(&head.segment).unwrap_or(0),
                false => 1,
            },
            origin: origin.trim_ascii().to_vec(),
            total: number(&head.segment_total),
            head: match is_later {
                true => Vec::new(),
                false => without_part(bytes),
            },
        }))
    }
}

/// A head without its end, and without the fields that are about a part and not about the whole.
fn without_part(bytes: &[u8]) -> Vec<u8> {
    let mut head = b"WARC/1.1\r\n".to_vec();
    fields::each(fields::first_line(bytes).1, |name, value| {
        let lower = name.to_ascii_lowercase();
        let is_of_part = lower.starts_with(b"warc-segment")
            || lower == b"content-length"
            || lower == b"warc-block-digest";
        if !is_of_part {
            head.extend([name, b": ", &value, b"\r\n"].concat());
        }
    });
    head
}

/// The positions of the parts of records, by the ID of the first part.
#[derive(Debug, Default)]
struct Index {
    archives: Vec<Opened>,
    records: HashMap<Vec<u8>, Parts>,
}

#[derive(Debug, Default)]
struct Parts {
    has_first: bool,
    /// By number, the archive and the place in it.
    later: BTreeMap<u64, (usize, u64)>,
    total: Option<u64>,
}

impl Index {
    fn add(&mut self, archive: &Opened, options: &ReadOptions) {
        let (keys, work) = (Keys::default(), |_: &Capture, _: &mut Body<'_>| ());
        let mut walk: Walk<'_, ()> = Walk::new(archive, options, &keys, &work);
        walk.collected = Some(Vec::new());
        // Errors are reported by the pass that reads the archive for its captures.
        let _ = walk.span(0, u64::MAX, &mut |_| ControlFlow::Continue(()));
        let found = walk.collected.take().unwrap_or_default();
        for (part, address) in found {
            if self.records.len() >= PARTS {
                return;
            }
            let parts = self.records.entry(part.origin).or_default();
            parts.total = part.total.or(parts.total);
            match part.number {
                1 => parts.has_first = true,
                number => {
                    let place = (self.archives.len(), address);
                    parts.later.entry(number).or_insert(place);
                }
            }
        }
        self.archives.push(Opened {
            path: archive.path.clone(),
            member: archive.member.clone(),
            extent: archive.extent.clone(),
            crc: None,
            layout: archive.layout.clone(),
        });
    }
}

impl<T> Walk<'_, T> {
    /// Reads a record that is a part: the first as the whole that it begins, others as nothing.
    pub(super) fn part(
        &mut self,
        record: Record,
        part: Box<PartHead>,
        start: &Start,
    ) -> (Item<T>, Result<(), Fault>) {
        let mut file = tempfile::tempfile();
        let mut block = Block::new(
            &mut self.stream,
            record.length,
            self.archive.layout.is_plain(),
            &self.options.stop,
            (self.archive, start.address),
            None,
        );
        let is_first = part.number == 1 && self.collected.is_none();
        let copied = match &mut file {
            Ok(file) if is_first => io::copy(&mut block, file).map(|_| ()),
            _ => Ok(()),
        };
        if let Err(fault) = block.finish() {
            return (Item::Other(None), Err(fault));
        }
        if let Some(collected) = &mut self.collected {
            collected.push((*part, start.address));
            return (Item::Other(None), Ok(()));
        }
        let index = self.options.family.index(self.archive, self.options);
        let parts = index.records.get(&part.origin);
        let whole = match (is_first, parts) {
            (true, parts) => copied
                .and(file)
                .and_then(|file| self.whole_of(&part, file, parts, &index, start)),
            (false, Some(parts)) if parts.has_first => return (Item::Other(None), Ok(())),
            (false, _) => Err(invalid("it is a later part of a record that is not there")),
        };
        let skipped = |error: io::Error| {
            Item::Skipped(Skipped {
                place: self.archive.place(start.address),
                length: Some(record.length),
                reason: error.to_string(),
            })
        };
        (whole.unwrap_or_else(skipped), Ok(()))
    }

    /// Reads the record that a first part begins, whose block is in a file.
    fn whole_of(
        &self,
        part: &PartHead,
        mut file: File,
        parts: Option<&Parts>,
        index: &Index,
        start: &Start,
    ) -> io::Result<Item<T>> {
        let none = Parts::default();
        let parts = parts.unwrap_or(&none);
        let missing = "it is the first part of a record, and others are missing";
        for (expected, (number, (archive, address))) in (2..).zip(&parts.later) {
            let archive = &index.archives[*archive];
            if *number != expected
                || !extract(archive, *address, part, *number, &mut file, self.options)?
            {
                return Err(invalid(missing));
            }
            if file.stream_position()? > LONGEST {
                return Err(invalid("it is longer than records in parts are read"));
            }
        }
        let length = file.stream_position()?;
        let total = part.total.or(parts.total);
        // Without the last part nobody knows how long it is.
        if total != Some(length) {
            return Err(invalid(missing));
        }
        let mut whole = tempfile::tempfile()?;
        whole.write_all(&part.head)?;
        write!(whole, "Content-Length: {length}\r\n\r\n")?;
        file.rewind()?;
        io::copy(&mut file, &mut whole)?;
        whole.write_all(b"\r\n\r\n")?;
        let opened = Opened {
            path: self.archive.path.clone(),
            member: self.archive.member.clone(),
            extent: Extent::of(whole)?,
            crc: None,
            layout: Layout {
                format: Format::Warc,
                codec: Codec::Plain,
                whole: false,
                expanded: None,
                dictionary: None,
                is_nothing: false,
                headless: None,
            },
        };
        let mut item = None;
        let mut walk = Walk::new(&opened, self.options, self.keys, self.work);
        walk.span(0, 1, &mut |signal| {
            if let Signal::Record { item: found, .. } = signal {
                item.get_or_insert(found);
            }
            ControlFlow::Continue(())
        })?;
        let mut item = item.ok_or_else(|| invalid("it is in parts, and cannot be read"))?;
        let place = self.archive.place(start.address);
        match &mut item {
            Item::Capture(capture, ..) => capture.place = place,
            Item::Skipped(skipped) => skipped.place = place,
            Item::Fact(fact) => {
                if let Some(check) = &mut fact.check {
                    check.place = place.clone();
                }
                fact.capture.place = place;
            }
            Item::Other(Some(check)) => check.place = place,
            Item::Other(None) => {}
        }
        Ok(item)
    }
}

/// Copies the block of a later part; whether it is there.
fn extract(
    archive: &Opened,
    address: u64,
    first: &PartHead,
    number: u64,
    file: &mut File,
    options: &ReadOptions,
) -> io::Result<bool> {
    let (keys, work) = (Keys::default(), |_: &Capture, _: &mut Body<'_>| ());
    let mut walk: Walk<'_, ()> = Walk::new(archive, options, &keys, &work);
    match archive.layout.whole {
        true => {
            walk.stream.start_counting(0, 0);
            walk.pass_to(address)?;
        }
        false => walk.stream.start(address),
    }
    // A member may have more records than this one.
    for _ in 0..PARTS {
        walk.pass_line_ends()?;
        let start = walk.start(address);
        let Ok((record, head)) = walk.head(&start)? else {
            return Ok(false);
        };
        walk.stream.consume(head);
        let mut block = Block::new(
            &mut walk.stream,
            record.length,
            false,
            &options.stop,
            (archive, address),
            None,
        );
        let part = record.part.as_ref();
        if part.is_some_and(|part| part.number == number && part.origin == first.origin) {
            io::copy(&mut block, file)?;
            return Ok(true);
        }
        if block.finish().is_err() {
            return Ok(false);
        }
    }
    Ok(false)
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// How many parts are remembered.
const PARTS: usize = 100_000;

/// The longest record that is put together.
const LONGEST: u64 = 8 << 30;
