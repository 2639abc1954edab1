//! WARC and ARC files, compressed or not, alone or in a WACZ.

mod arc;
mod around;
mod block;
mod chunked;
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

use self::input::Extent;
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
pub struct Archive(Result<Opened, Skipped>);

/// A file that can be read.
#[derive(Debug, Clone)]
struct Opened {
    path: PathBuf,
    member: Option<String>,
    extent: Extent,
    layout: Layout,
}

impl Archive {
    pub(crate) fn name(&self) -> String {
        let (path, member) = match &self.0 {
            Ok(opened) => (&opened.path, &opened.member),
            Err(skipped) => (&skipped.place.file, &skipped.place.member),
        };
        match member {
            Some(member) => format!("{}!{member}", path.display()),
            None => path.display().to_string(),
        }
    }

    pub(crate) fn length(&self) -> u64 {
        self.0.as_ref().map_or(0, |opened| {
            opened.layout.expanded.unwrap_or(opened.extent.size())
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
            Ok(opened) => opened
                .read(from, options, work, take)
                .map_err(|error| Error::file(&opened.path, error)),
            Err(skipped) => Ok(Ended {
                position: from,
                still_written: false,
                stopped: take(News::Skipped(skipped.clone())).is_break(),
            }),
        }
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
        let opened = self.as_it_is_now()?;
        let mut join = Join::new(from, take);
        let halt = match options.threads {
            0 | 1 => {
                let keys = Keys::default();
                let mut walk = Walk::new(&opened, options, &keys, work);
                walk.span(from, u64::MAX, &mut |signal| join.signal(signal))
            }
            _ => parallel::read(&opened, from, options, work, &mut join),
        };
        let halt = halt?;
        let stopped = halt == Halt::Stopped || join.finish().is_break();
        Ok(Ended {
            position: match halt {
                Halt::At(end) | Halt::StillWritten(end) if !stopped => end,
                _ => join.position(),
            },
            still_written: matches!(halt, Halt::StillWritten(_)) && !stopped,
            stopped,
        })
    }

    fn place(&self, offset: u64) -> Place {
        Place {
            file: self.path.clone(),
            offset,
            member: self.member.clone(),
        }
    }

    /// A file may have grown since it was opened.
    fn as_it_is_now(&self) -> io::Result<Self> {
        let mut opened = self.clone();
        if self.member.is_none() {
            opened.extent.length = self.extent.file.metadata()?.len();
        }
        Ok(opened)
    }

    /// Whether somebody is still writing it.
    fn is_growing(&self) -> bool {
        let length = || self.extent.file.metadata().map(|metadata| metadata.len());
        let is_open = self
            .path
            .extension()
            .is_some_and(|extension| extension == "open");
        self.member.is_none()
            && (is_open || length().is_ok_and(|length| length > self.extent.length))
    }
}
