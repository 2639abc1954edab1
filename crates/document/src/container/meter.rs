//! Counts what goes into containers and what comes out, and stops what unfolds too far.

use std::cell::Cell;
use std::io::{self, Read};

use super::{Error, Limits};

/// The counts of one container and of all that lie in it.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    pub(super) limits: &'a Limits,
    read: Cell<u64>,
    written: Cell<u64>,
    members: Cell<u64>,
    excess: Cell<Option<Excess>>,
}

#[derive(Debug, Clone, Copy)]
enum Excess {
    Ratio,
    Size,
    Members,
}

impl<'a> Meter<'a> {
    pub(super) fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            read: Cell::new(0),
            written: Cell::new(0),
            members: Cell::new(0),
            excess: Cell::new(None),
        }
    }

    /// Counts a member, whether or not it is handed over.
    pub(super) fn member(&self) -> Result<(), Error> {
        self.members.set(self.members.get() + 1);
        if self.members.get() > self.limits.members {
            self.excess.set(Some(Excess::Members));
            return Err(self.error(io::ErrorKind::Other.into()));
        }
        Ok(())
    }

    /// The meaning of a failure to read: a limit, if one was reached.
    pub(super) fn error(&self, error: io::Error) -> Error {
        let limits = self.limits;
        match self.excess.get() {
            Some(Excess::Ratio) => Error::Ratio {
                limit: limits.ratio,
            },
            Some(Excess::Size) => Error::Size { limit: limits.size },
            Some(Excess::Members) => Error::Members {
                limit: limits.members,
            },
            None => Error::Damaged(error),
        }
    }

    fn wrote(&self, bytes: usize) -> io::Result<()> {
        let written = self.written.get() + bytes as u64;
        self.written.set(written);
        let allowed = self.read.get().saturating_mul(self.limits.ratio);
        if written > self.limits.size {
            self.excess.set(Some(Excess::Size));
        } else if written > allowed.max(self.limits.free) {
            self.excess.set(Some(Excess::Ratio));
        } else {
            return Ok(());
        }
        let error = self.error(io::ErrorKind::Other.into());
        Err(io::Error::other(error.to_string()))
    }
}

/// The bytes of a container.
#[derive(Debug)]
pub(super) struct Counted<'a, R> {
    inner: R,
    meter: &'a Meter<'a>,
}

impl<'a, R> Counted<'a, R> {
    pub(super) fn new(inner: R, meter: &'a Meter<'a>) -> Self {
        Self { inner, meter }
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.meter.read.set(self.meter.read.get() + read as u64);
        Ok(read)
    }
}

/// The output of a layer.
#[derive(Debug)]
pub(super) struct Metered<'a, R> {
    inner: R,
    meter: &'a Meter<'a>,
}

impl<'a, R> Metered<'a, R> {
    pub(super) fn new(inner: R, meter: &'a Meter<'a>) -> Self {
        Self { inner, meter }
    }
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.meter.wrote(read)?;
        Ok(read)
    }
}

/// Remembers the failure of a reader that is handed to somebody else.
#[derive(Debug)]
pub(super) struct Watched<R> {
    inner: R,
    pub(super) failed: Option<io::Error>,
}

impl<R> Watched<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            failed: None,
        }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(failed) = &self.failed {
            return Err(io::Error::new(failed.kind(), failed.to_string()));
        }
        self.inner.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failed = Some(io::Error::new(error.kind(), error.to_string()));
            }
        })
    }
}
