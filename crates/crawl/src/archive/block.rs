//! The block of a record: the bytes behind its head, as long as the head states.

use std::io::{self, BufRead, Read};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Opened;
use super::digest::Check;
use super::stream::{Stream, Tail};

/// Why the rest of a block cannot be read.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is shorter than its head says.
    Short,
    /// The file ends in it.
    Truncated,
    /// Its member is damaged.
    Broken(&'static str),
    /// Somebody wants the reading to end.
    Stopped,
    /// The system does not let us read.
    Io(io::Error),
}

impl Fault {
    fn reason(&self) -> &'static str {
        match self {
            Self::Short => "the record is shorter than its Content-Length",
            Self::Truncated => "the file ends in the middle of the record",
            Self::Broken(reason) => reason,
            Self::Stopped => "reading was stopped",
            Self::Io(_) => "the file cannot be read",
        }
    }
}

pub(super) struct Block<'s> {
    stream: &'s mut Stream,
    remaining: u64,
    /// The file is not compressed, so bytes nobody wants need not be read.
    can_leap: bool,
    fault: Option<Fault>,
    stop: &'s AtomicBool,
    /// The file and where the record begins in it, for errors.
    origin: (&'s Opened, u64),
    check: Option<Rc<Check>>,
}

impl<'s> Block<'s> {
    pub(super) fn new(
        stream: &'s mut Stream,
        length: u64,
        can_leap: bool,
        stop: &'s AtomicBool,
        origin: (&'s Opened, u64),
        check: Option<Rc<Check>>,
    ) -> Self {
        Self {
            stream,
            remaining: length,
            can_leap,
            fault: None,
            stop,
            origin,
            check,
        }
    }

    /// How many bytes were not read yet.
    pub(super) fn remaining(&self) -> u64 {
        self.remaining
    }

    /// The next `count` bytes, if there are as many. How many more happen to be in view makes no difference.
    pub(super) fn peek(&mut self, count: usize) -> &[u8] {
        let seen = self.view(count);
        &seen[..seen.len().min(count)]
    }

    /// Returns the window, with at least `count` bytes if the block has them.
    fn view(&mut self, count: usize) -> &[u8] {
        let wanted = self.remaining.min(count as u64) as usize;
        while self.stream.window().len() < wanted && self.fault.is_none() {
            self.fault = self.more(wanted).err();
        }
        let visible = self.remaining.min(self.stream.window().len() as u64) as usize;
        &self.stream.window()[..visible]
    }

    /// Passes over what is left, and says whether all was as it should be.
    pub(super) fn finish(mut self) -> Result<(), Fault> {
        let check = self.check.clone();
        let is_checked = check.as_ref().is_some_and(|check| check.is_wanted());
        while self.remaining > 0 && self.fault.is_none() {
            let visible = self.view(1).len();
            if self.can_leap
                && !is_checked
                && self.remaining > visible as u64
                && self.fault.is_none()
            {
                if let Some(check) = &check {
                    check.give_up();
                }
                self.stream.leap(self.remaining);
                self.remaining = 0;
                break;
            }
            self.consume(visible);
        }
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    fn more(&mut self, wanted: usize) -> Result<(), Fault> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Fault::Stopped);
        }
        // No more than one step, so that a stop is noticed.
        let step = wanted.min(self.stream.window().len() + 1);
        self.stream.fill(step).map_err(Fault::Io)?;
        if self.stream.window().len() >= step {
            return Ok(());
        }
        match self.stream.tail() {
            Tail::Truncated => Err(Fault::Truncated),
            Tail::Broken(reason) => Err(Fault::Broken(reason)),
            Tail::Open => Ok(()),
            Tail::Ended(_) => match self.stream.cross() {
                Ok(true) => Ok(()),
                Ok(false) => Err(Fault::Short),
                Err(error) => Err(Fault::Io(error)),
            },
        }
    }

    fn error(&self) -> io::Error {
        let reason = self.fault.as_ref().map_or("it ended", Fault::reason);
        let (opened, address) = self.origin;
        let text = format!("{}: {reason}", opened.place(address));
        io::Error::new(io::ErrorKind::InvalidData, text)
    }
}

impl BufRead for Block<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.remaining == 0 {
            return Ok(&[]);
        }
        if self.view(1).is_empty() {
            return Err(self.error());
        }
        Ok(self.view(1))
    }

    fn consume(&mut self, count: usize) {
        if let Some(check) = &self.check {
            check.take_block(&self.stream.window()[..count]);
        }
        self.stream.consume(count);
        self.remaining -= count as u64;
    }
}

impl Read for Block<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let visible = self.fill_buf()?;
        let count = visible.len().min(out.len());
        out[..count].copy_from_slice(&visible[..count]);
        self.consume(count);
        Ok(count)
    }
}
