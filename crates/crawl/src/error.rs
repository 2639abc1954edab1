//! Errors that prevent reading a crawl at all. A defect of a single record is a `Skipped`.

use std::io;
use std::path::{Path, PathBuf};

/// An error of reading.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system does not let us read a file or a directory.
    #[error("`{}` cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file that was named is none of the formats that are read.
    #[error("`{}` holds no WARC, ARC or WACZ; a log needs its own option", path.display())]
    NotAnArchive {
        /// The file.
        path: PathBuf,
    },
    /// A log that is compressed.
    #[error("`{}` is compressed; unpack it first", path.display())]
    CompressedLog {
        /// The log.
        path: PathBuf,
    },
    /// A log format that cannot be used.
    #[error("the log format cannot be used: {reason}")]
    LogFormat {
        /// Why not, and what could be there instead.
        reason: String,
    },
}

impl Error {
    pub(crate) fn file(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::File {
            path: path.to_owned(),
            source: source.into(),
        }
    }
}
