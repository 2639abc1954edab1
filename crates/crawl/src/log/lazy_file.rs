//! The file of a line while it is read.

use std::fs::File;
use std::io::{self, Read};
use std::time::UNIX_EPOCH;

use super::LogSource;
use super::root::Expected;
use crate::{Body, Capture};

/// A file that is looked for when somebody reads it: many captures are not wanted.
pub(super) struct LazyFile<'s> {
    pub(super) source: &'s LogSource,
    pub(super) url: String,
    /// The path that the line states.
    pub(super) named: Option<Vec<u8>>,
    pub(super) expected: Expected,
    pub(super) file: Option<File>,
}

impl<'s> LazyFile<'s> {
    /// The body of a capture. One without a date gets that of its file.
    pub(super) fn body(self, capture: &mut Capture) -> Body<'s> {
        if capture.crawled.is_some() {
            return Body::new(self, None);
        }
        let file = match self.find() {
            Ok(file) => file,
            Err(error) => return Body::failing(error),
        };
        let metadata = file.metadata().ok();
        let modified = metadata
            .as_ref()
            .and_then(|metadata| metadata.modified().ok());
        let since = modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
        capture.crawled = since.and_then(|since| i64::try_from(since.as_secs()).ok());
        Body::new(file, metadata.map(|metadata| metadata.len()))
    }

    fn find(&self) -> io::Result<File> {
        self.source
            .find(&self.url, self.named.as_deref(), &self.expected)
    }
}

impl Read for LazyFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.file.is_none() {
            self.file = Some(self.find()?);
        }
        match &mut self.file {
            Some(file) => file.read(buffer),
            None => Ok(0),
        }
    }
}
