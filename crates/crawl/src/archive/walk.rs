//! Goes from record to record, and around what is damaged. What it finds depends on where it begins and on nothing else.

use std::io;
use std::ops::ControlFlow;

use super::block::{Block, Fault};
use super::fields;
use super::layout::{Format, is_line_end};
use super::record::{self, Fact, Keys, Link, Record, Role};
use super::search;
use super::stream::{Stream, Tail};
use super::warc::WarcHead;
use super::{Opened, Work, arc};
use crate::{Capture, Place, ReadOptions, Skipped};

/// What is found on the way.
pub(super) enum Signal<T> {
    /// A record. `unit` is the last place before it where reading can begin.
    Record { unit: u64, item: Item<T> },
    /// Reading can begin here.
    Unit(u64),
}

pub(super) enum Item<T> {
    Capture(Box<Capture>, T, Link),
    Fact(Box<Fact>),
    Skipped(Skipped),
    /// Nothing to be told, but it counts.
    Other,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Halt {
    /// It is where it should go to; the next record begins at this offset.
    At(u64),
    /// The record at this offset is still being written.
    StillWritten(u64),
    Stopped,
}

pub(super) type Emit<'e, T> = dyn FnMut(Signal<T>) -> ControlFlow<()> + 'e;

pub(super) struct Walk<'a, T> {
    archive: &'a Opened,
    options: &'a ReadOptions,
    keys: &'a Keys,
    work: &'a Work<'a, T>,
    stream: Stream,
    /// How often a stream was read again because of a length that was wrong.
    restarts: u32,
}

/// What became of a record.
enum Outcome {
    Good,
    Stopped,
    /// It is as it is, but not one that can be read.
    Refused,
    Faulty(Fault),
    /// Its length is wrong, or its head.
    Wrong(&'static str),
}

/// Where a record began.
#[derive(Clone, Copy)]
struct Start {
    address: u64,
    /// The member in which it began, and how many bytes had come out before that and before the record.
    member: u64,
    member_decoded: u64,
    decoded: u64,
    /// The bytes of the head that was understood.
    head: u64,
}

impl<'a, T> Walk<'a, T> {
    pub(super) fn new(
        archive: &'a Opened,
        options: &'a ReadOptions,
        keys: &'a Keys,
        work: &'a Work<'a, T>,
    ) -> Self {
        Self {
            archive,
            options,
            keys,
            work,
            stream: Stream::new(&archive.extent, &archive.layout, &options.limits),
            restarts: 0,
        }
    }

    /// Reads all that begins from one offset to before another.
    pub(super) fn span(&mut self, from: u64, until: u64, emit: &mut Emit<'_, T>) -> io::Result<Halt> {
        if self.archive.layout.whole {
            return self.whole(from, emit);
        }
        let mut at = from;
        while at < until.min(self.stream.size()) {
            if self.options.stopped() {
                return Ok(Halt::Stopped);
            }
            match self.unit(at, emit)? {
                Halt::At(next) => at = next.max(at + 1),
                halt => return Ok(halt),
            }
            if emit(Signal::Unit(at)).is_break() {
                return Ok(Halt::Stopped);
            }
        }
        Ok(Halt::At(at))
    }

    /// Reads one member with the records that are in it, or one record of a file that is not compressed.
    fn unit(&mut self, at: u64, emit: &mut Emit<'_, T>) -> io::Result<Halt> {
        self.stream.start(at);
        loop {
            self.pass_line_ends()?;
            let start = self.start(at);
            if self.stream.window().is_empty() {
                match self.stream.tail() {
                    Tail::Ended(next) => return Ok(Halt::At(next)),
                    Tail::Truncated => return self.truncated(start, emit),
                    Tail::Broken(reason) => return self.around_member(start, reason, emit),
                    Tail::Open => continue,
                }
            }
            let (start, outcome) = self.record(start, at, emit)?;
            let halt = match outcome {
                Outcome::Stopped => Some(Halt::Stopped),
                Outcome::Good | Outcome::Refused if self.archive.layout.is_plain() => {
                    Some(Halt::At(self.stream.offset()))
                }
                Outcome::Good | Outcome::Refused => None,
                Outcome::Faulty(fault) => Some(self.around(start, fault, emit)?),
                Outcome::Wrong(reason) if self.archive.layout.is_plain() => {
                    Some(self.around_record(start, reason, emit)?)
                }
                Outcome::Wrong(reason) => self.pass_to_record(start, reason, emit)?,
            };
            if let Some(halt) = halt {
                return Ok(halt);
            }
        }
    }

    fn around(&mut self, start: Start, fault: Fault, emit: &mut Emit<'_, T>) -> io::Result<Halt> {
        let short = "it is shorter than its head says";
        match (fault, self.stream.tail()) {
            (Fault::Io(error), _) => Err(error),
            (Fault::Stopped, _) => Ok(Halt::Stopped),
            (Fault::Short, Tail::Ended(next)) if next < self.stream.size() => {
                let length = Some(next - start.address);
                self.skip(start, length, short, emit).map(|halt| halt.unwrap_or(Halt::At(next)))
            }
            (Fault::Short | Fault::Truncated, _) => self.truncated(start, emit),
            (Fault::Broken(reason), _) => self.around_member(start, reason, emit),
        }
    }

    /// The file ends in a record: either it is being written, or damaged so that the end was not seen.
    fn truncated(&mut self, start: Start, emit: &mut Emit<'_, T>) -> io::Result<Halt> {
        if self.archive.is_growing() {
            return Ok(Halt::StillWritten(start.address));
        }
        let reason = "the file ends in the middle of it";
        match self.archive.layout.is_plain() {
            true => self.around_record(start, reason, emit),
            false => self.around_member(start, reason, emit),
        }
    }

    /// Goes on with the next member that can be believed.
    fn around_member(
        &mut self,
        start: Start,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Halt> {
        let (layout, limits) = (&self.archive.layout, &self.options.limits);
        let damaged = self.stream.member();
        let size = self.stream.size();
        let input = self.stream.input();
        input.seek(damaged + 1);
        let next = search::next_member(input, layout, size, layout.whole, limits)?;
        let next = next.unwrap_or(size);
        let length = (!layout.whole).then(|| next - start.address);
        let halt = self.skip(start, length, reason, emit)?;
        Ok(halt.unwrap_or(Halt::At(next)))
    }

    /// Goes on with the next record that can be believed, in a file that is not compressed.
    fn around_record(
        &mut self,
        start: Start,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Halt> {
        let (extent, format) = (&self.archive.extent, self.archive.layout.format);
        let from = start.address + start.head.max(1);
        let size = self.stream.size();
        let next = search::next_record(extent, format, from, size, &self.options.limits)?;
        let next = next.unwrap_or(size);
        let halt = self.skip(start, Some(next - start.address), reason, emit)?;
        Ok(halt.unwrap_or(Halt::At(next)))
    }

    /// Goes on with the next record in what comes out of the same member, if there is one.
    fn pass_to_record(
        &mut self,
        start: Start,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Option<Halt>> {
        if !self.find_in_stream()? {
            match self.stream.tail() {
                Tail::Truncated => return self.truncated(start, emit).map(Some),
                Tail::Broken(reason) => return self.around_member(start, reason, emit).map(Some),
                Tail::Open | Tail::Ended(_) => {}
            }
            if self.options.stopped() {
                return Ok(Some(Halt::Stopped));
            }
        }
        let length = self.archive.layout.whole.then(|| self.stream.decoded() - start.decoded);
        self.skip(start, length, reason, emit)
    }

    /// Moves the window to where a record begins. `false` if the member ends before.
    fn find_in_stream(&mut self) -> io::Result<bool> {
        let format = self.archive.layout.format;
        let mut at_line = false;
        loop {
            if self.options.stopped() {
                return Ok(false);
            }
            let seen = self.stream.fill(SEARCHED)?;
            let count = seen.len();
            match search::next_start(format, seen, at_line) {
                Some(0) if search::head(format, self.stream.fill(self.options.limits.head)?).is_some() => {
                    return Ok(true);
                }
                Some(0) => self.pass(1, &mut at_line),
                Some(found) => self.pass(found, &mut at_line),
                None if count < SEARCHED => {
                    self.stream.consume(count);
                    return Ok(false);
                }
                None => self.pass(count - OVERLAP, &mut at_line),
            }
        }
    }

    fn pass(&mut self, count: usize, at_line: &mut bool) {
        *at_line = self.stream.window()[count - 1] == b'\n';
        self.stream.consume(count);
    }

    /// Reads a file whose bytes come out as one stream.
    fn whole(&mut self, from: u64, emit: &mut Emit<'_, T>) -> io::Result<Halt> {
        self.stream.start_counting(0, 0);
        if !self.pass_to(from)? {
            return Ok(match self.options.stopped() {
                true => Halt::Stopped,
                false => Halt::At(from),
            });
        }
        loop {
            if self.options.stopped() {
                return Ok(Halt::Stopped);
            }
            self.pass_line_ends()?;
            let start = self.start(self.stream.decoded());
            if self.stream.window().is_empty() {
                match self.stream.tail() {
                    Tail::Ended(next) if next >= self.stream.size() => {
                        return Ok(Halt::At(start.address));
                    }
                    Tail::Ended(next) => self.stream.start(next),
                    Tail::Open => {}
                    Tail::Truncated | Tail::Broken(_) => {
                        let fault = Outcome::Faulty(match self.stream.tail() {
                            Tail::Broken(reason) => Fault::Broken(reason),
                            _ => Fault::Truncated,
                        });
                        if let Some(halt) = self.around_in_whole(start, fault, emit)? {
                            return Ok(halt);
                        }
                    }
                }
                continue;
            }
            let (start, outcome) = self.record(start, start.address, emit)?;
            if let Some(halt) = self.around_in_whole(start, outcome, emit)? {
                return Ok(halt);
            }
            if emit(Signal::Unit(self.stream.decoded())).is_break() {
                return Ok(Halt::Stopped);
            }
        }
    }

    fn around_in_whole(
        &mut self,
        start: Start,
        outcome: Outcome,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Option<Halt>> {
        let reason = match outcome {
            Outcome::Good | Outcome::Refused => return Ok(None),
            Outcome::Stopped | Outcome::Faulty(Fault::Stopped) => return Ok(Some(Halt::Stopped)),
            Outcome::Faulty(Fault::Io(error)) => return Err(error),
            Outcome::Faulty(Fault::Broken(reason)) => {
                return self.lost_in_whole(start, reason, emit);
            }
            Outcome::Faulty(Fault::Truncated) => {
                if self.archive.is_growing() {
                    return Ok(Some(Halt::StillWritten(start.address)));
                }
                return self.lost_in_whole(start, "the file ends in the middle of it", emit);
            }
            Outcome::Faulty(Fault::Short) => "it is shorter than its head says",
            Outcome::Wrong(reason) => reason,
        };
        // What a length that is too great has passed over is read again, but not without end.
        let is_reachable = start.member_decoded <= start.decoded;
        if start.head > 0 && is_reachable && self.restarts < RESTARTS {
            self.restarts += 1;
            self.stream.start_counting(start.member, start.member_decoded);
            self.pass_to(start.decoded + start.head)?;
        }
        loop {
            let found = self.find_in_stream()?;
            match self.stream.tail() {
                Tail::Ended(next) if !found && next < self.stream.size() => self.stream.start(next),
                _ => break,
            }
        }
        let length = Some(self.stream.decoded().saturating_sub(start.decoded));
        self.skip(start, length, reason, emit)
    }

    /// Goes on behind a damaged member of a stream.
    fn lost_in_whole(
        &mut self,
        start: Start,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Option<Halt>> {
        match self.around_member(start, reason, emit)? {
            Halt::At(next) if next >= self.stream.size() => Ok(Some(Halt::At(self.stream.decoded()))),
            Halt::At(next) => {
                self.stream.start(next);
                // The rest of the record that was lost says nothing.
                self.find_in_stream()?;
                Ok(None)
            }
            halt => Ok(Some(halt)),
        }
    }

    /// Moves the window to the byte that so many come before. `false` if there are not as many.
    fn pass_to(&mut self, decoded: u64) -> io::Result<bool> {
        loop {
            let left = decoded - self.stream.decoded().min(decoded);
            if left == 0 {
                return Ok(true);
            }
            if self.options.stopped() {
                return Ok(false);
            }
            let seen = self.stream.fill(1)?.len() as u64;
            if seen > 0 {
                self.stream.consume(seen.min(left) as usize);
                continue;
            }
            let next = match self.stream.tail() {
                Tail::Open => continue,
                Tail::Ended(next) => next,
                Tail::Truncated => return Ok(false),
                Tail::Broken(_) => {
                    let (damaged, size) = (self.stream.member(), self.stream.size());
                    let (layout, limits) = (&self.archive.layout, &self.options.limits);
                    let input = self.stream.input();
                    input.seek(damaged + 1);
                    search::next_member(input, layout, size, true, limits)?.unwrap_or(size)
                }
            };
            if next >= self.stream.size() {
                return Ok(false);
            }
            self.stream.start(next);
        }
    }

    /// Reads the record that the window begins with. What is found of it is told if the record is whole.
    fn record(
        &mut self,
        mut start: Start,
        unit: u64,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<(Start, Outcome)> {
        let record = match self.head(&start)? {
            Ok((record, head)) => {
                self.stream.consume(head);
                start.head = head as u64;
                record
            }
            Err(outcome) => return Ok((start, outcome)),
        };
        if let Some(outcome) = self.foresee(&record)? {
            return Ok((start, outcome));
        }
        let is_lf = record.is_lf;
        let (item, done) = self.content(record, &start);
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
    fn head(&mut self, start: &Start) -> io::Result<Result<(Record, usize), Outcome>> {
        let format = self.archive.layout.format;
        let limit = match format {
            Format::Warc => self.options.limits.head,
            Format::Arc => self.options.limits.line,
        };
        let mut wanted = HEAD;
        loop {
            let seen = self.stream.fill(wanted)?;
            let is_short = seen.len() < wanted;
            if format == Format::Warc && !super::warc::begins(seen) && seen.len() >= 6 {
                return Ok(Err(Outcome::Wrong("no record begins there")));
            }
            let end = match format {
                Format::Warc => fields::head_end(seen),
                Format::Arc => memchr::memchr(b'\n', &seen[..seen.len().min(limit)]).map(|at| at + 1),
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

    /// What a head is that ends before it should.
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
        let place = || self.place(start.address);
        match self.archive.layout.format {
            Format::Warc => {
                let head = WarcHead::parse(head)?;
                Ok(Record::of_warc(&head, self.keys, place()))
            }
            Format::Arc => {
                let line = arc::ArcLine::parse(fields::first_line(head).0)?;
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
        if end > extent.length {
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
            && search::next_record(extent, format, block, end, limits)?.is_none();
        Ok((!is_plausible).then_some(Outcome::Wrong(WRONG_LENGTH)))
    }

    /// Reads the block of a record, and says what it comes to if the record is whole.
    fn content(&mut self, record: Record, start: &Start) -> (Item<T>, Result<(), Fault>) {
        let place = self.place(start.address);
        let can_leap = self.archive.layout.is_plain();
        let options = self.options;
        let mut block = Block::new(
            &mut self.stream,
            record.length,
            can_leap,
            &options.stop,
            &place,
        );
        let refused = |reason: &str| {
            Item::Skipped(Skipped {
                place: place.clone(),
                length: Some(record.length),
                reason: reason.to_owned(),
            })
        };
        let item = match record.role {
            Role::Capture(mut capture, link, wrapping) => {
                let limits = &options.limits;
                let made = record::capture(&mut capture, wrapping, &mut block, limits, self.work);
                match made {
                    Ok(made) => Item::Capture(capture, made, link),
                    Err(reason) => refused(reason),
                }
            }
            Role::Request(mut fact) => {
                record::request(&mut fact, &mut block);
                Item::of_fact(fact)
            }
            Role::Metadata(mut fact) => {
                record::metadata(&mut fact, &mut block);
                Item::of_fact(fact)
            }
            Role::Other => Item::Other,
            Role::Refused(reason) => refused(reason),
        };
        (item, block.finish())
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
        let mut wanted = HEAD;
        while format == Format::Arc
            && !self.stream.fill(wanted)?.contains(&b'\n')
            && self.stream.tail() == Tail::Open
            && wanted < self.options.limits.line
        {
            wanted *= 4;
        }
        let seen = self.stream.window();
        let is_good = exact > 0 || seen.is_empty() || format.begins(seen);
        Ok((!is_good).then_some(Outcome::Wrong(WRONG_LENGTH)))
    }

    /// Passes over empty lines, up to the end of the member.
    fn pass_line_ends(&mut self) -> io::Result<()> {
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

    fn start(&self, unit: u64) -> Start {
        let stream = &self.stream;
        let address = match (self.archive.layout.whole, self.archive.layout.is_plain()) {
            (true, _) => stream.decoded(),
            (false, true) => stream.offset(),
            (false, false) => unit,
        };
        Start {
            address,
            member: stream.member(),
            member_decoded: stream.member_decoded(),
            decoded: stream.decoded(),
            head: 0,
        }
    }

    fn place(&self, offset: u64) -> Place {
        Place {
            file: self.archive.path.clone(),
            offset,
            member: self.archive.member.clone(),
        }
    }

    /// Tells what could not be read.
    fn skip(
        &self,
        start: Start,
        length: Option<u64>,
        reason: &str,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Option<Halt>> {
        let item = Item::Skipped(Skipped {
            place: self.place(start.address),
            length,
            reason: reason.to_owned(),
        });
        let unit = start.address;
        let flow = emit(Signal::Record { unit, item });
        Ok(flow.is_break().then_some(Halt::Stopped))
    }
}

impl<T> Item<T> {
    fn of_fact(fact: Box<Fact>) -> Self {
        match fact.is_of_use() {
            true => Self::Fact(fact),
            false => Self::Other,
        }
    }
}

const HEAD: usize = 2048;
const ENDING: usize = 8;
const SEARCHED: usize = 64 * 1024;
const OVERLAP: usize = 8;
const RESTARTS: u32 = 16;
const WRONG_LENGTH: &str = "its length is not that of its head";
