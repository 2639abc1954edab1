//! Reads one record, and finds out whether it is whole.

use std::io;
use std::ops::ControlFlow;

use super::block::{Block, Fault};
use super::heads::arc::ArcLine;
use super::heads::fields;
use super::heads::http::{self, HttpHead};
use super::heads::warc::{self, HeadEnd, WarcHead};
use super::open::layout::{Format, is_line_end};
use super::parts::PartHead;
use super::raw::RawRecord;
use super::record::{self, Record, Role, Wrapping};
use super::search;
use super::stream::Tail;
use super::walk::{Emit, Item, Outcome, Signal, Start, Walk};
use crate::{Checked, DigestCheck, Place, RecordCheck, Skipped};

impl<T> Walk<'_, T> {
    /// Reads the record at the beginning of the window. Its oddities are reported if the record is whole.
    pub(super) fn record(
        &mut self,
        mut start: Start,
        unit: u64,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<(Start, Outcome)> {
        let mut written = None;
        let mut record = match self.head(&start)? {
            Ok((record, head)) => {
                if self.visitor.is_some() {
                    written = Some(self.stream.window()[..head].to_vec());
                }
                self.stream.consume(head);
                start.head = head as u64;
                record
            }
            Err(outcome) => return Ok((start, outcome)),
        };
        if let Some(outcome) = self.foresee(&record)? {
            match self.announced(&record)? {
                Some(length) => record.repair(length),
                None => return Ok((start, outcome)),
            }
        }
        let is_lf = record.is_lf;
        let (item, done) = match written {
            Some(head) => self.visit(&head, record.length, &start),
            None => self.content(record, &start),
        };
        if let Err(fault) = done {
            return Ok((start, Outcome::Faulty(fault)));
        }
        if let Some(outcome) = self.ending(is_lf)? {
            return Ok((start, outcome));
        }
        let is_refused = matches!(item, Item::Skipped(_));
        let outcome = match emit(Signal::Record { unit, item }) {
            ControlFlow::Break(()) => Outcome::Stopped,
            ControlFlow::Continue(()) if is_refused => Outcome::Refused,
            ControlFlow::Continue(()) => Outcome::Good,
        };
        Ok((start, outcome))
    }

    /// Reads a head, and says how long it is. It stays in the window.
    pub(super) fn head(&mut self, start: &Start) -> io::Result<Result<(Record, usize), Outcome>> {
        let format = self.archive.layout.format;
        let limit = match format {
            Format::Warc => self.options.limits.head,
            Format::Arc => self.options.limits.line,
        };
        let mut wanted = HEAD;
        loop {
            let seen = self.stream.fill(wanted)?;
            let is_short = seen.len() < wanted;
            if format == Format::Warc && !warc::begins(seen) && seen.len() >= 6 {
                return Ok(Err(Outcome::Wrong("no record begins there")));
            }
            let end = match format {
                Format::Warc => match warc::head_end(&seen[..seen.len().min(limit)]) {
                    HeadEnd::At(end) => Some(end),
                    HeadEnd::Unseen => None,
                    HeadEnd::Cut => return Ok(Err(Outcome::Wrong("its head has no end"))),
                },
                Format::Arc => {
                    memchr::memchr(b'\n', &seen[..seen.len().min(limit)]).map(|at| at + 1)
                }
            };
            if let Some(end) = end {
                let parsed = self.parse(end, start);
                return Ok(parsed.map(|record| (record, end)).map_err(Outcome::Wrong));
            }
            if wanted >= limit {
                return Ok(Err(Outcome::Wrong("its head is too long")));
            }
            if !is_short {
                wanted *= 4;
                continue;
            }
            match self.stream.tail() {
                Tail::Broken(reason) => return Ok(Err(Outcome::Faulty(Fault::Broken(reason)))),
                Tail::Truncated => return Ok(Err(Outcome::Faulty(Fault::Truncated))),
                Tail::Open => {}
                Tail::Ended(_) if self.stream.cross()? => {}
                Tail::Ended(_) => return Ok(Err(self.unfinished_head())),
            }
        }
    }

    /// Classifies a head that ends too early.
    fn unfinished_head(&self) -> Outcome {
        match self.archive.layout.format.begins(self.stream.window()) {
            true => Outcome::Faulty(Fault::Short),
            // The file may end in the middle of `WARC/`, but not in anything else.
            false if self.archive.layout.is_plain() && self.archive.is_growing() => {
                Outcome::Faulty(Fault::Truncated)
            }
            false => Outcome::Wrong("no record begins there"),
        }
    }

    fn parse(&self, end: usize, start: &Start) -> Result<Record, &'static str> {
        let head = &self.stream.window()[..end];
        let place = || self.archive.place(start.address);
        match self.archive.layout.format {
            Format::Warc => {
                let parsed = WarcHead::parse(head)?;
                let mut record = Record::of_warc(&parsed, self.keys, place());
                record.part = PartHead::of(&parsed, head);
                Ok(record)
            }
            Format::Arc => {
                let line = ArcLine::parse(fields::first_line(head).0)?;
                Ok(Record::of_arc(&line, place()))
            }
        }
    }

    /// In a file that is not compressed, the end of a record is looked at before anything is done with it.
    fn foresee(&mut self, record: &Record) -> io::Result<Option<Outcome>> {
        if !self.archive.layout.is_plain() {
            return Ok(None);
        }
        let (extent, limits) = (&self.archive.extent, &self.options.limits);
        let format = self.archive.layout.format;
        let block = self.stream.offset();
        let end = block.saturating_add(record.length);
        if end > extent.part.length {
            return Ok(Some(Outcome::Faulty(Fault::Truncated)));
        }
        let near = usize::try_from(record.length).ok();
        let near = near.and_then(|length| self.stream.window().get(length..));
        if near.is_some_and(|bytes| search::is_ending(format, record.is_lf, bytes, false))
            || search::ends_well(extent, format, record.is_lf, end, limits)?
        {
            return Ok(None);
        }
        // Quirk: one line end is all that is behind a record of an ARC file, so what follows may be what is damaged.
        let is_plausible = format == Format::Arc
            && search::next_record(extent, format, block, end, self.options)?.is_none();
        Ok((!is_plausible).then_some(Outcome::Wrong(WRONG_LENGTH)))
    }

    /// How long a block is by what the server announced, where the head of the record is wrong: if nothing but what ends
    /// a record is between the end of the message and the next record, or the end of the file, the message is whole.
    fn announced(&mut self, record: &Record) -> io::Result<Option<u64>> {
        let is_http =
            matches!(&record.role, Role::Capture(_, _, wrapping) if *wrapping != Wrapping::None);
        if !is_http || self.archive.is_growing() {
            return Ok(None);
        }
        let (extent, format) = (&self.archive.extent, self.archive.layout.format);
        let (block, size) = (self.stream.offset(), self.stream.size());
        let seen = self.stream.fill(self.options.limits.head)?;
        let Some(end) = fields::head_end(seen).filter(|_| http::begins(seen)) else {
            return Ok(None);
        };
        let head = HttpHead::parse(&seen[..end]);
        let Some(length) = head.length.filter(|_| !head.is_chunked) else {
            return Ok(None);
        };
        let length = length.saturating_add(end as u64);
        let behind = block.saturating_add(length);
        if behind > size {
            return Ok(None);
        }
        let next = search::next_record(extent, format, block, size, self.options)?;
        let next = next.unwrap_or(size);
        let mut between = [0; ENDING];
        let count = next.checked_sub(behind).map(usize::try_from);
        let Some(between) = count.and_then(|count| between.get_mut(..count.ok()?)) else {
            return Ok(None);
        };
        let count = extent.read_at(behind, between)?;
        let is_whole = match (format, &between[..count]) {
            (Format::Warc, b"\r\n\r\n") | (Format::Arc, b"\n") => true,
            (Format::Warc, b"\n\n") => record.is_lf,
            _ => false,
        };
        Ok(is_whole.then_some(length))
    }

    /// Hands a record to the visitor.
    fn visit(&mut self, head: &[u8], length: u64, start: &Start) -> (Item<T>, Result<(), Fault>) {
        let mut block = Block::new(
            &mut self.stream,
            length,
            self.archive.layout.is_plain(),
            &self.options.stop,
            (self.archive, start.address),
            None,
        );
        let place = self.archive.place(start.address);
        let record = RawRecord::of(&self.archive.layout, head, length, place);
        if let Some(visitor) = &mut self.visitor {
            visitor(record, &mut block);
        }
        (Item::Other(None), block.finish())
    }

    /// Reads the block of a record, and says what it comes to if the record is whole.
    fn content(&mut self, mut record: Record, start: &Start) -> (Item<T>, Result<(), Fault>) {
        if let Some(part) = record.part.take() {
            return self.part(record, part, start);
        }
        if self.collected.is_some() {
            (record.role, record.check) = (Role::Other, None);
        }
        let can_leap = self.archive.layout.is_plain();
        let options = self.options;
        let mut block = Block::new(
            &mut self.stream,
            record.length,
            can_leap,
            &options.stop,
            (self.archive, start.address),
            record.check.clone(),
        );
        let refused = |reason: &str| {
            Item::Skipped(Skipped {
                place: self.archive.place(start.address),
                length: Some(record.length),
                reason: reason.to_owned(),
            })
        };
        let check = record.check.as_ref();
        let is_message = matches!(record.role, Role::Capture(..) | Role::Request(_));
        if let Some(check) = check.filter(|_| !is_message) {
            check.begin_body();
        }
        let mut item = match record.role {
            Role::Capture(mut capture, link, wrapping) => {
                let (limits, work) = (&options.limits, self.work);
                let made = record::capture(&mut capture, wrapping, &mut block, limits, check, work);
                match made {
                    Ok(made) => Item::Capture(capture, made, link),
                    Err(reason) => refused(reason),
                }
            }
            Role::Request(mut fact) => {
                record::request(&mut fact, &mut block, check);
                Item::Fact(fact)
            }
            Role::Metadata(mut fact) => {
                record::metadata(&mut fact, &mut block);
                Item::Fact(fact)
            }
            Role::Other => Item::Other(None),
            Role::Refused(reason) => refused(reason),
        };
        if let Some(check) = check.filter(|_| options.check_all) {
            match options.check_long {
                true => check.want(false),
                false => check.want_in_passing(record.length),
            }
        }
        let done = block.finish();
        if let (Some(check), Ok(())) = (check, &done) {
            item.add_check(check.finish(), || self.archive.place(start.address));
        }
        (item.without_idle_fact(), done)
    }

    /// Passes over the line ends behind a block. Something else behind them says that the length was wrong.
    fn ending(&mut self, is_lf: bool) -> io::Result<Option<Outcome>> {
        if self.archive.layout.is_plain() {
            return Ok(None);
        }
        let format = self.archive.layout.format;
        let seen = self.stream.fill(ENDING)?;
        let exact = match () {
            () if format == Format::Warc && seen.starts_with(b"\r\n\r\n") => 4,
            () if format == Format::Warc && is_lf && seen.starts_with(b"\n\n") => 2,
            () => 0,
        };
        self.stream.consume(exact);
        // The checksum of a member is only looked at behind its last byte.
        let before = self.stream.decoded();
        self.pass_line_ends()?;
        let fault = match self.stream.tail() {
            _ if !self.stream.window().is_empty() => None,
            Tail::Broken(reason) => Some(Fault::Broken(reason)),
            Tail::Truncated if !self.archive.layout.whole => Some(Fault::Truncated),
            _ => None,
        };
        if let Some(fault) = fault {
            return Ok(Some(Outcome::Faulty(fault)));
        }
        while self.archive.layout.whole && self.sees_little() && self.stream.cross()? {
            self.pass_line_ends()?;
            // The next member is damaged, which says nothing of this record.
            if matches!(self.stream.tail(), Tail::Broken(_) | Tail::Truncated) {
                return Ok(None);
            }
        }
        let at_line = self.stream.decoded() > before;
        let mut wanted = HEAD;
        while format == Format::Arc
            && !self.stream.fill(wanted)?.contains(&b'\n')
            && self.stream.tail() == Tail::Open
            && wanted < self.options.limits.line
        {
            wanted *= 4;
        }
        let seen = self.stream.window();
        let begins = format.begins(seen) && (at_line || search::begins_surely(format, seen));
        let is_good = exact > 0 || seen.is_empty() || begins;
        Ok((!is_good).then_some(Outcome::Wrong(WRONG_LENGTH)))
    }

    /// Whether the member ended before it can be told what is behind a record.
    fn sees_little(&self) -> bool {
        let seen = self.stream.window();
        let is_little = match self.archive.layout.format {
            Format::Warc => seen.len() < BEGIN,
            Format::Arc => seen.len() < self.options.limits.line && !seen.contains(&b'\n'),
        };
        is_little && matches!(self.stream.tail(), Tail::Ended(_))
    }

    /// Passes over empty lines, up to the end of the member.
    pub(super) fn pass_line_ends(&mut self) -> io::Result<()> {
        loop {
            let seen = self.stream.fill(1)?;
            let count = seen.iter().position(|byte| !is_line_end(*byte));
            let count = count.unwrap_or(seen.len());
            let is_all = count == seen.len() && count > 0;
            self.stream.consume(count);
            if !is_all || self.options.stopped() {
                return Ok(());
            }
        }
    }
}

impl<T> Item<T> {
    /// Adds how the digests of the record compare.
    fn add_check(&mut self, digests: DigestCheck, place: impl FnOnce() -> Place) {
        let is_compared =
            |checked: &Checked| matches!(checked, Checked::Fits | Checked::Differs(_));
        let is_compared = is_compared(&digests.block) || is_compared(&digests.payload);
        let check = |record| {
            let check = RecordCheck {
                place: place(),
                record,
                digests: digests.clone(),
            };
            is_compared.then(|| Box::new(check))
        };
        match self {
            Self::Capture(capture, ..) => capture.digests = digests,
            Self::Fact(fact) => {
                let kind = match fact.is_metadata {
                    true => "metadata",
                    false => "request",
                };
                fact.check = check(format!("{kind} of {}", fact.capture.url));
            }
            Self::Other(other) => *other = check("a record that is no capture".to_owned()),
            Self::Skipped(_) => {}
        }
    }

    /// A fact that says nothing is none.
    fn without_idle_fact(self) -> Self {
        match self {
            Self::Fact(fact) if !fact.is_of_use() => Self::Other(fact.check),
            other => other,
        }
    }
}

const HEAD: usize = 2048;

/// As many bytes tell whether a WARC record begins.
const BEGIN: usize = 6;

const ENDING: usize = 8;
const WRONG_LENGTH: &str = "its length is not that of its head";
