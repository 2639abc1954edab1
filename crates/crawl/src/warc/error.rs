//! Errors of writing WARC files.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the writer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A WARC file cannot be used.
    #[error("`{}` cannot be {action}: {source}", path.display())]
    File {
        /// The failed action, as in "cannot be written".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The bytes of a resource cannot be read, or are not as many as at first.
    #[error("the bytes of `{url}` cannot be read: {source}")]
    Body {
        /// The resource.
        url: String,
        /// The error of the reader.
        source: io::Error,
    },
    /// Another process writes a file of the same name.
    #[error("`{}` is being written by another process; give another prefix or directory", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    pub(super) fn file(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::File {
            action,
            path: path.to_owned(),
            source: source.into(),
        }
    }
}
