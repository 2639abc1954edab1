//! WARC and ARC files, compressed or not, alone or in a WACZ.

mod around;
mod block;
mod coding;
mod digest;
mod heads;
mod input;
mod join;
mod open;
mod parallel;
mod parts;
mod payload;
mod raw;
mod reading;
mod record;
mod search;
mod stream;
mod wacz;
mod walk;
mod whole;

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use flate2::Crc;

use self::input::{Extent, Input, Part};
use self::join::Join;
use self::open::layout::{Codec, Layout};
use self::record::Keys;
use self::walk::{Halt, Item, Signal, Walk};
use crate::{Body, Capture, Ended, Error, Place, ReadOptions, Skipped, SourceEvent};

pub(crate) use self::digest::{Check, Form};
pub(crate) use self::open::open;
pub use self::parts::Family;
pub use self::raw::{HttpMessage, RawEvent, RawRecord};

/// The caller's work on each capture.
type Work<'a, T> = dyn Fn(&Capture, &mut Body<'_>) -> T + Sync + 'a;

/// One WARC or ARC file, or one of which it was only found out that it cannot be read.
#[derive(Debug)]
pub struct Archive(Result<Closed, Refusal>);

/// A file that is not read.
#[derive(Debug)]
struct Refusal {
    skipped: Skipped,
    /// Records may be lost with it.
    is_loss: bool,
}

/// A file that can be read. It is open only while it is: a crawl has more files than may be open.
#[derive(Debug, Clone)]
struct Closed {
    path: PathBuf,
    member: Option<String>,
    part: Part,
    /// The checksum that a WACZ has of it.
    crc: Option<u32>,
    layout: Layout,
}

/// A file that is read.
#[derive(Debug)]
struct Opened {
    path: PathBuf,
    member: Option<String>,
    extent: Extent,
    crc: Option<u32>,
    layout: Layout,
}

impl Archive {
    pub(crate) fn name(&self) -> String {
        let (path, member) = match &self.0 {
            Ok(closed) => (&closed.path, &closed.member),
            Err(refusal) => (&refusal.skipped.place.file, &refusal.skipped.place.member),
        };
        match member {
            Some(member) => format!("{}!{member}", path.display()),
            None => path.display().to_string(),
        }
    }

    /// Whether it is in a WACZ.
    pub(crate) fn is_member(&self) -> bool {
        let member = match &self.0 {
            Ok(closed) => &closed.member,
            Err(refusal) => &refusal.skipped.place.member,
        };
        member.is_some()
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.0.is_ok()
    }

    /// Why it is not read, if that is so and records may be lost with it.
    pub(crate) fn loss(&self) -> Option<&Skipped> {
        let refusal = self.0.as_ref().err().filter(|refusal| refusal.is_loss);
        refusal.map(|refusal| &refusal.skipped)
    }

    pub(crate) fn length(&self) -> u64 {
        self.0.as_ref().map_or(0, |closed| {
            closed.layout.expanded.unwrap_or(closed.part.size())
        })
    }

    pub(crate) fn read<T: Send>(
        &self,
        from: u64,
        options: &ReadOptions,
        work: &Work<'_, T>,
        take: &mut dyn FnMut(SourceEvent<T>) -> ControlFlow<()>,
    ) -> Result<Ended, Error> {
        match &self.0 {
            Ok(closed) => closed
                .open(options)
                .and_then(|opened| opened.read(from, options, work, take))
                .map_err(|error| Error::file(&closed.path, error)),
            Err(refusal) => {
                let skipped = refusal.skipped.clone();
                let news = match refusal.is_loss {
                    true => SourceEvent::Skipped(skipped),
                    false => SourceEvent::Noted(skipped),
                };
                Ok(Ended {
                    position: from,
                    still_written: false,
                    stopped: take(news).is_break(),
                })
            }
        }
    }
}

impl Closed {
    /// Opens it as it is now: a file may have grown since it was looked at.
    fn open(&self, options: &ReadOptions) -> io::Result<Opened> {
        let mut extent = Extent::of(options.limits.roots.open(&self.path)?)?;
        if self.member.is_some() {
            extent.part = self.part;
        }
        Ok(Opened {
            path: self.path.clone(),
            member: self.member.clone(),
            extent,
            crc: self.crc,
            layout: self.layout.clone(),
        })
    }
}

impl Opened {
    fn read<T: Send>(
        &self,
        from: u64,
        options: &ReadOptions,
        work: &Work<'_, T>,
        take: &mut dyn FnMut(SourceEvent<T>) -> ControlFlow<()>,
    ) -> io::Result<Ended> {
        let mut join = Join::new(from, take);
        if from == 0 && self.layout.headless.is_some() {
            let reason = "the head of its first gzip member is damaged; it is skipped";
            if join.signal(self.skipped(0, reason)).is_break() {
                return Ok(Ended {
                    position: from,
                    still_written: false,
                    stopped: true,
                });
            }
        }
        let halt = match options.threads {
            0 | 1 => {
                let keys = Keys::default();
                let mut walk = Walk::new(self, options, &keys, work);
                walk.span(from, u64::MAX, &mut |signal| join.signal(signal))
            }
            _ => parallel::read(self, from, options, work, &mut join),
        };
        let stopped = |join: &Join<'_, T>| Ended {
            position: join.position(),
            still_written: false,
            stopped: true,
        };
        let (end, mut still_written) = match halt? {
            Halt::At(end) => (end, false),
            Halt::StillWritten(end) => (end, true),
            Halt::Stopped => return Ok(stopped(&join)),
        };
        if self.crc.is_some_and(|crc| self.has_other_sum(crc, options)) {
            let reason = "its checksum in the ZIP file is wrong: some of its records are damaged";
            if join.signal(self.skipped(end, reason)).is_break() {
                return Ok(stopped(&join));
            }
        }
        let finished = match still_written || self.is_growing() {
            true => join.finish_growing(),
            false => join.finish().map_continue(|()| None),
        };
        let ControlFlow::Continue(kept) = finished else {
            return Ok(stopped(&join));
        };
        still_written |= kept.is_some();
        Ok(Ended {
            position: kept.unwrap_or(end),
            still_written,
            stopped: false,
        })
    }

    fn skipped<T>(&self, offset: u64, reason: &str) -> Signal<T> {
        let skipped = Skipped {
            place: self.place(offset),
            length: None,
            reason: reason.to_owned(),
        };
        Signal::Record {
            unit: offset,
            item: Item::Skipped(skipped),
        }
    }

    /// Whether its bytes are not those that a checksum was made of. Compressed records have checksums of their own.
    fn has_other_sum(&self, expected: u32, options: &ReadOptions) -> bool {
        if self.layout.codec != Codec::Plain {
            return false;
        }
        let (mut input, mut crc) = (Input::new(&self.extent), Crc::new());
        let mut buffer = vec![0; 64 * 1024];
        while !options.stopped() {
            match input.read(&mut buffer) {
                Ok(0) => return crc.sum() != expected,
                Ok(count) => crc.update(&buffer[..count]),
                Err(_) => return true,
            }
        }
        false
    }

    fn place(&self, offset: u64) -> Place {
        Place {
            file: self.path.clone(),
            offset,
            member: self.member.clone(),
        }
    }

    /// Whether somebody is still writing it.
    fn is_growing(&self) -> bool {
        let length = || self.extent.file.metadata().map(|metadata| metadata.len());
        let is_open = self
            .path
            .extension()
            .is_some_and(|extension| extension == "open");
        self.member.is_none()
            && (is_open || length().is_ok_and(|length| length > self.extent.part.length))
    }
}
