//! WARC and ARC files, compressed or not, alone or in a WACZ.

mod arc;
mod around;
mod block;
mod chunked;
mod coding;
mod date;
mod fields;
mod gzip;
mod http;
mod input;
mod join;
mod layout;
mod open;
mod parallel;
mod payload;
mod reading;
mod record;
mod search;
mod stream;
mod wacz;
mod walk;
mod warc;
mod whole;
mod zstd;

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use self::input::{Extent, Part};
use self::join::Join;
use self::layout::Layout;
use self::record::Keys;
use self::walk::{Halt, Walk};
use crate::{Body, Capture, Ended, Error, News, Place, ReadOptions, Skipped};

pub(crate) use self::open::open;

/// What is done with each capture.
type Work<'a, T> = dyn Fn(&Capture, &mut Body<'_>) -> T + Sync + 'a;

/// One WARC or ARC file, or one of which it was only found out that it cannot be read.
#[derive(Debug)]
pub struct Archive(Result<Closed, Skipped>);

/// A file that can be read. It is open only while it is: a crawl has more files than may be open.
#[derive(Debug)]
struct Closed {
    path: PathBuf,
    member: Option<String>,
    part: Part,
    layout: Layout,
}

/// A file that is read.
#[derive(Debug)]
struct Opened {
    path: PathBuf,
    member: Option<String>,
    extent: Extent,
    layout: Layout,
}

impl Archive {
    pub(crate) fn name(&self) -> String {
        let (path, member) = match &self.0 {
            Ok(closed) => (&closed.path, &closed.member),
            Err(skipped) => (&skipped.place.file, &skipped.place.member),
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
            Err(skipped) => &skipped.place.member,
        };
        member.is_some()
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
        take: &mut dyn FnMut(News<T>) -> ControlFlow<()>,
    ) -> Result<Ended, Error> {
        match &self.0 {
            Ok(closed) => closed
                .open(options)
                .and_then(|opened| opened.read(from, options, work, take))
                .map_err(|error| Error::file(&closed.path, error)),
            Err(skipped) => Ok(Ended {
                position: from,
                still_written: false,
                stopped: take(News::Skipped(skipped.clone())).is_break(),
            }),
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
        take: &mut dyn FnMut(News<T>) -> ControlFlow<()>,
    ) -> io::Result<Ended> {
        let mut join = Join::new(from, take);
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
