//! Goes from record to record. What it finds depends on where it begins, and on nothing else.

use std::io;
use std::ops::ControlFlow;

use super::block::Fault;
use super::parts::PartHead;
use super::raw::Visitor;
use super::record::{Fact, Keys, Link};
use super::stream::{Stream, Tail};
use super::{Opened, Work};
use crate::{Capture, Kind, ReadOptions, RecordCheck, Skipped};

/// An event of a walk over records.
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
    /// Nothing to be told but how its digests compare; it counts.
    Other(Option<Box<RecordCheck>>),
}

impl<T> Signal<T> {
    /// How many bytes of memory it takes, more or less.
    pub(super) fn weight(&self) -> usize {
        let capture = match self {
            Self::Record {
                item: Item::Capture(capture, ..),
                ..
            } => capture,
            Self::Record {
                item: Item::Fact(fact),
                ..
            } => &fact.capture,
            _ => return size_of::<Self>(),
        };
        let refers_to = match &capture.kind {
            Kind::Revisit { refers_to, .. } => refers_to,
            Kind::Document => &None,
        };
        let long = [&capture.parent, &capture.path_from_seed, refers_to];
        let long = long.into_iter().flatten().map(String::len).sum::<usize>();
        size_of::<Capture>() + capture.url.len() + long
    }
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
    pub(super) archive: &'a Opened,
    pub(super) options: &'a ReadOptions,
    pub(super) keys: &'a Keys,
    pub(super) work: &'a Work<'a, T>,
    pub(super) stream: Stream,
    /// How often a member, or the whole stream, was read again because of a length that was wrong.
    pub(super) restarts: u32,
    /// How far decoding came in a damaged stretch, and how many bytes came out of it more than once.
    pub(super) lost: u64,
    pub(super) again: u64,
    /// Parts of records are collected, each with its place, and nothing is made of captures.
    pub(super) collected: Option<Vec<(PartHead, u64)>>,
    /// Gets each record as it is written; nothing is made of captures then.
    pub(super) visitor: Option<Visitor<'a>>,
}

/// The outcome of reading one record.
pub(super) enum Outcome {
    Good,
    Stopped,
    /// It is as it is, but not one that can be read.
    Refused,
    Faulty(Fault),
    /// Its length is wrong, or its head.
    Wrong(&'static str),
}

/// The position at which a record began.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub(super) address: u64,
    /// The member in which it began, and how many bytes had come out before that and before the record.
    pub(super) member: u64,
    pub(super) member_decoded: u64,
    pub(super) decoded: u64,
    /// The bytes of the head that was understood.
    pub(super) head: u64,
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
            lost: 0,
            again: 0,
            collected: None,
            visitor: None,
        }
    }

    /// Reads all that begins from one offset to before another.
    pub(super) fn span(
        &mut self,
        from: u64,
        until: u64,
        emit: &mut Emit<'_, T>,
    ) -> io::Result<Halt> {
        (self.lost, self.again) = (0, 0);
        if self.archive.layout.whole {
            return self.whole(from, emit);
        }
        let mut at = from;
        // A damaged stretch is gone through by whoever began with it: what is given up in it depends on all of it.
        while at < until.max(self.lost).min(self.stream.size()) {
            if self.options.stopped() {
                return Ok(Halt::Stopped);
            }
            match self.unit(at, emit)? {
                Halt::At(next) => at = next.max(at + 1),
                halt => return Ok(halt),
            }
            if at >= self.lost && emit(Signal::Unit(at)).is_break() {
                return Ok(Halt::Stopped);
            }
        }
        Ok(Halt::At(at))
    }

    /// Reads one member with the records that are in it, or one record of a file that is not compressed.
    fn unit(&mut self, at: u64, emit: &mut Emit<'_, T>) -> io::Result<Halt> {
        self.stream.start(at);
        self.restarts = 0;
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
                    // The next record is where others look for it, not at the empty lines before.
                    self.pass_line_ends()?;
                    Some(Halt::At(self.stream.offset()))
                }
                Outcome::Good | Outcome::Refused => None,
                Outcome::Faulty(fault) => self.around(start, fault, emit)?,
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

    pub(super) fn start(&self, unit: u64) -> Start {
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
}
