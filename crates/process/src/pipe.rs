//! Our end of a pipe, read without ever waiting.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Keeps a part of what comes through a pipe and throws the rest away, so that the writer never waits.
#[derive(Debug)]
pub(super) struct Pipe {
    source: Option<File>,
    pub(super) kept: Vec<u8>,
    part: Part,
    seen: u64,
}

/// The part of the bytes that is kept, with its length at most.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// All. A writer of more is stopped.
    All(usize),
    /// The beginning. A writer of more than [`MOST_SEEN`] is stopped.
    First(usize),
    /// The end, of whatever length.
    Last(usize),
}

impl Pipe {
    pub(super) fn new(end: impl Into<OwnedFd>, part: Part) -> io::Result<Self> {
        let source = File::from(end.into());
        fcntl_setfl(&source, fcntl_getfl(&source)? | OFlags::NONBLOCK)?;
        Ok(Self {
            source: Some(source),
            kept: Vec::new(),
            part,
            seen: 0,
        })
    }

    pub(super) fn source(&self) -> Option<&File> {
        self.source.as_ref()
    }

    /// Whether the writer has to be stopped.
    pub(super) fn is_full(&self) -> bool {
        match self.part {
            Part::All(most) => self.seen > most as u64,
            Part::First(_) => self.seen > MOST_SEEN,
            Part::Last(_) => false,
        }
    }

    /// Reads once, if there is something; returns whether there was.
    pub(super) fn read_some(&mut self) -> io::Result<bool> {
        let Some(source) = &mut self.source else {
            return Ok(false);
        };
        let mut buffer = [0; 64 * 1024];
        match source.read(&mut buffer) {
            Ok(0) => {
                self.source = None;
                Ok(false)
            }
            Ok(count) => {
                self.keep(&buffer[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Reads the bytes that the program left in the pipe at its end. A process that it left behind may write for ever, so
    /// the number of reads is bounded; a pipe holds at most 1 MiB.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        for _ in 0..MOST_READS {
            if self.is_full() || !self.read_some()? {
                break;
            }
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        match self.part {
            Part::All(most) | Part::First(most) => {
                let room = most - self.kept.len();
                self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Part::Last(most) => {
                self.kept.extend_from_slice(bytes);
                let over = self.kept.len().saturating_sub(most);
                self.kept.drain(..over);
            }
        }
    }
}

/// A program that complains at greater length never ends.
const MOST_SEEN: u64 = 64 * 1024 * 1024;
const MOST_READS: usize = 256;
