//! Finds what a log says of a capture that was read elsewhere.

use std::path::Path;

use super::LogFormat;
use crate::{Capture, Error, Limits};

/// A log that can be looked up by URL and date.
#[derive(Debug)]
pub struct LogIndex {}

impl LogIndex {
    /// Reads a log once. It takes little memory, and room in the directory for temporary files: 24 bytes for each line.
    pub fn build(_log: &Path, _format: &LogFormat, _limits: &Limits) -> Result<Self, Error> {
        todo!()
    }

    /// Adds what the capture lacks: parent, path, depth, seed, status, date, media type and digest. Of several lines about
    /// one URL the one nearest in time counts.
    pub fn complete(&self, _capture: &mut Capture) {
        todo!()
    }
}
