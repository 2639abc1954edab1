//! The expanded bytes of an archive, as a moving window.
//!
//! Member boundaries are kept: records begin there, and reading resumes there after damage.

use std::io;

use super::coding::gzip::Gzip;
use super::coding::zstd::Zstd;
use super::input::{Extent, Input};
use super::open::layout::{Codec, Format, Layout};
use crate::Limits;

/// The progress of one call of a decoder.
#[derive(Default)]
pub(super) struct Step {
    pub(super) consumed: usize,
    pub(super) produced: usize,
    pub(super) progress: Progress,
}

impl Step {
    pub(super) fn consumed(consumed: usize) -> Self {
        Self {
            consumed,
            ..Self::default()
        }
    }

    pub(super) fn with(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }
}

/// How a decoder stands.
#[derive(Default)]
pub(super) enum Progress {
    /// It can go on.
    #[default]
    Going,
    /// The decoder needs more input.
    Starved,
    /// The member is complete, and right.
    Ended,
    /// The member is complete, but what came out is not what was put in.
    Unproven(&'static str),
    /// The member is damaged.
    Broken(&'static str),
}

/// Undoes the compression of one member after the other.
pub(super) enum Decoder {
    Plain,
    Gzip(Box<Gzip>),
    Zstd(Box<Zstd>),
}

impl Decoder {
    pub(super) fn new(layout: &Layout, limits: &Limits) -> Self {
        match layout.codec {
            Codec::Plain => Self::Plain,
            Codec::Gzip => Self::Gzip(Box::new(Gzip::new())),
            Codec::Zstd => Self::Zstd(Box::new(Zstd::new(
                layout.dictionary.as_deref(),
                limits.zstd_window,
            ))),
        }
    }

    pub(super) fn reset(&mut self) {
        match self {
            Self::Plain => {}
            Self::Gzip(gzip) => gzip.reset(),
            Self::Zstd(zstd) => zstd.reset(),
        }
    }

    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self {
            Self::Plain => Step::default().with(Progress::Ended),
            Self::Gzip(gzip) => gzip.step(input, output),
            Self::Zstd(zstd) => zstd.step(input, output),
        }
    }
}

/// The state of the data behind the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tail {
    /// More of the same member.
    Open,
    /// The member is over; the next one begins at this offset, or the file ends there.
    Ended(u64),
    /// The file ends in the middle of the member.
    Truncated,
    /// The member is damaged.
    Broken(&'static str),
}

pub(super) struct Stream {
    input: Input,
    decoder: Decoder,
    format: Format,
    line: usize,
    headless: Option<u64>,
    window: Vec<u8>,
    begin: usize,
    end: usize,
    tail: Tail,
    /// The offset of the member, and the number of bytes decoded before it.
    member: u64,
    member_decoded: u64,
    /// How many bytes have come out.
    decoded: u64,
    /// Nothing of the member was consumed.
    untouched: bool,
    /// The member was decoded to its end, even if it is damaged.
    is_complete: bool,
}

impl Stream {
    pub(super) fn new(extent: &Extent, layout: &Layout, limits: &Limits) -> Self {
        Self {
            input: Input::new(extent),
            decoder: Decoder::new(layout, limits),
            format: layout.format,
            line: limits.line,
            headless: layout.headless,
            window: vec![0; WINDOW],
            begin: 0,
            end: 0,
            tail: Tail::Ended(0),
            member: 0,
            member_decoded: 0,
            decoded: 0,
            untouched: false,
            is_complete: false,
        }
    }

    /// Goes to a member, or to a record in a file that is not compressed.
    pub(super) fn start(&mut self, at: u64) {
        let here = self.decoded();
        self.start_counting(at, here);
    }

    /// Like `start`, where it is known how many bytes came before.
    pub(super) fn start_counting(&mut self, at: u64, decoded: u64) {
        let kept = (self.end - self.begin) as u64;
        if matches!(self.decoder, Decoder::Plain) {
            let here = self.input.position() - kept;
            if (here..=here + kept).contains(&at) {
                self.begin += (at - here) as usize;
            } else {
                (self.begin, self.end) = (0, 0);
                self.input.seek(at);
            }
            (self.member, self.tail) = (at, Tail::Open);
            self.decoded = decoded + (self.end - self.begin) as u64;
            self.member_decoded = decoded;
            return;
        }
        let usable = matches!(self.tail, Tail::Open | Tail::Ended(_));
        if self.untouched && usable && self.member == at && self.member_decoded == decoded {
            return;
        }
        (self.begin, self.end) = (0, 0);
        self.decoded = decoded;
        self.input.seek(at);
        self.next_member();
    }

    /// Goes to the first member as if its head ended at an offset.
    pub(super) fn start_headless(&mut self, at: u64) {
        self.headless = Some(at);
        self.untouched = false;
        self.start_counting(0, 0);
    }

    /// Begins with the next member, behind what is in the window.
    fn next_member(&mut self) {
        self.member = self.input.position();
        self.member_decoded = self.decoded;
        self.untouched = self.begin == self.end;
        self.tail = Tail::Open;
        self.is_complete = false;
        self.decoder.reset();
        if let (0, Some(at), Decoder::Gzip(gzip)) = (self.member, self.headless, &mut self.decoder)
        {
            gzip.reset_behind_head();
            self.input.seek(at);
        }
    }

    pub(super) fn tail(&self) -> Tail {
        self.tail
    }

    /// Returns the offset of the member in the file.
    pub(super) fn member(&self) -> u64 {
        self.member
    }

    /// How many bytes had come out when the member began.
    pub(super) fn member_decoded(&self) -> u64 {
        self.member_decoded
    }

    /// Returns the offset in the file that decoding has reached.
    pub(super) fn reached(&self) -> u64 {
        self.input.position()
    }

    /// Whether the member was decoded to its end, even if it is damaged.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// How many bytes have come out of the member.
    pub(super) fn out_of_member(&self) -> u64 {
        self.decoded.saturating_sub(self.member_decoded)
    }

    /// The offset of the window, in a file that is not compressed.
    pub(super) fn offset(&self) -> u64 {
        self.input.position() - (self.end - self.begin) as u64
    }

    /// How many bytes came before the window.
    pub(super) fn decoded(&self) -> u64 {
        self.decoded - (self.end - self.begin) as u64
    }

    pub(super) fn size(&self) -> u64 {
        self.input.size()
    }

    pub(super) fn window(&self) -> &[u8] {
        &self.window[self.begin..self.end]
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.begin += count;
        self.untouched &= count == 0;
    }

    /// Passes over bytes without looking at them, in a file that is not compressed.
    pub(super) fn leap(&mut self, count: u64) {
        let to = self.offset() + count;
        let decoded = self.decoded() + count;
        self.start_counting(to, decoded);
    }

    /// Has at least `count` bytes in the window, unless the member ends before.
    pub(super) fn fill(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.begin < count && self.tail == Tail::Open {
            self.more()?;
        }
        Ok(self.window())
    }

    /// Goes on into the next member if that does not begin with a record. `false` if there is no going on.
    pub(super) fn cross(&mut self) -> io::Result<bool> {
        let Tail::Ended(next) = self.tail else {
            return Ok(self.tail == Tail::Open);
        };
        if next >= self.size() || matches!(self.decoder, Decoder::Plain) {
            return Ok(false);
        }
        let (kept, decoded) = (self.end - self.begin, self.decoded);
        self.next_member();
        let mut wanted = START;
        while self.end - self.begin < kept + wanted && self.tail == Tail::Open {
            self.more()?;
            let behind = &self.window()[kept..];
            // A line of an ARC file is only recognised when it is complete.
            let unfinished = self.format == Format::Arc && !behind.contains(&b'\n');
            if unfinished && behind.len() >= wanted && wanted < self.line {
                wanted *= 2;
            }
        }
        if self.format.begins(&self.window()[kept..]) {
            self.end = self.begin + kept;
            self.decoded = decoded;
            self.untouched = false;
            self.tail = Tail::Ended(next);
            return Ok(false);
        }
        Ok(true)
    }

    fn more(&mut self) -> io::Result<()> {
        self.make_room();
        let room = &mut self.window[self.end..];
        if matches!(self.decoder, Decoder::Plain) {
            // Heads are short, and most bodies are leapt over.
            let most = room.len().min(PLAIN);
            let count = self.input.read(&mut room[..most])?;
            self.end += count;
            self.decoded += count as u64;
            if count == 0 {
                let end = self.input.position();
                // Deflated data may be damaged, and a file may have become shorter.
                self.tail = match end < self.size() {
                    true => Tail::Truncated,
                    false => Tail::Ended(end),
                };
            }
            return Ok(());
        }
        let step = self.decoder.step(self.input.available(), room);
        self.input.consume(step.consumed);
        self.end += step.produced;
        self.decoded += step.produced as u64;
        match step.progress {
            Progress::Going => {}
            Progress::Starved => {
                if !self.input.more()? {
                    self.tail = Tail::Truncated;
                }
            }
            Progress::Ended => self.tail = Tail::Ended(self.input.position()),
            Progress::Broken(reason) => self.tail = Tail::Broken(reason),
            Progress::Unproven(reason) => {
                self.tail = Tail::Broken(reason);
                self.is_complete = true;
            }
        }
        Ok(())
    }

    fn make_room(&mut self) {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
        if self.window.len() - self.end >= ROOM {
            return;
        }
        self.window.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        if self.window.len() - self.end < ROOM {
            self.window.resize(self.window.len() + WINDOW, 0);
        }
    }

    /// Estimates the expanded size, assuming that the rest compresses like the part already read.
    pub(super) fn expected(&self) -> u64 {
        let read = u128::from(self.input.position().max(1));
        let expected = u128::from(self.size()) * u128::from(self.decoded) / read;
        u64::try_from(expected).unwrap_or(u64::MAX)
    }

    /// The input, to look for the next member in it.
    pub(super) fn input(&mut self) -> &mut Input {
        (self.begin, self.end) = (0, 0);
        self.untouched = false;
        self.tail = Tail::Truncated;
        &mut self.input
    }
}

const WINDOW: usize = 256 * 1024;

/// Less room than this is not worth a step.
const ROOM: usize = 64 * 1024;

const PLAIN: usize = 64 * 1024;

/// As many bytes tell whether a WARC record begins.
const START: usize = 64;
