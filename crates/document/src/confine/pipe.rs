//! Our end of a pipe, read without ever waiting.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Keeps the first bytes that come, up to a limit. What comes behind it is thrown away, so that the writer can go on.
pub(super) struct Pipe {
    source: Option<File>,
    pub(super) kept: Vec<u8>,
    limit: usize,
    seen: u64,
}

impl Pipe {
    pub(super) fn new(end: Option<OwnedFd>, limit: usize) -> io::Result<Self> {
        let source = end.map(File::from);
        if let Some(source) = &source {
            fcntl_setfl(source, fcntl_getfl(source)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            source,
            kept: Vec::new(),
            limit,
            seen: 0,
        })
    }

    pub(super) fn source(&self) -> Option<&File> {
        self.source.as_ref()
    }

    /// Whether the writer has to be stopped.
    pub(super) fn is_full(&self) -> bool {
        self.seen > MOST_SEEN
    }

    /// Reads once, if there is something; tells whether there was.
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

    /// Reads what is there when nobody writes any more. It need not end either.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        while !self.is_full() && self.read_some()? {}
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        let room = self.limit - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// Who complains at such length never ends.
const MOST_SEEN: u64 = 64 * 1024 * 1024;
