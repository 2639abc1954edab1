//! Errors of files, with the culprit and the remedy.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("`{}` cannot be {action}: {source}", path.display())]
    Io {
        /// The failed action, as in "cannot be written".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Something that is no directory stands where one is needed. Links are not followed.
    #[error("`{}` is in the way: it is a file or a symbolic link where a directory is needed; move it away", path.display())]
    InTheWay {
        /// The path of the obstacle, below the base directory.
        path: PathBuf,
    },
    /// The path of a file does not lie below the base directory.
    #[error("`{}` is not a path below the base directory", path.display())]
    NotBelow {
        /// The path.
        path: PathBuf,
    },
    /// Another document lies where a new one is due.
    #[error(
        "`{}` is another document already: the catalog is older than the collection; garner verify --repair takes what is there into it",
        path.display()
    )]
    Occupied {
        /// Its path.
        path: PathBuf,
    },
    /// A mirror was given something that no path can be made of.
    #[error("`{url}` is not an http or https URL, so it has no place in a mirror")]
    NotAUrl {
        /// The URL as given.
        url: String,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            source: source.into(),
        }
    }

    /// Whether it is certain that there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether nothing is known because the place cannot be reached: a store that does not answer, a file system of
    /// another machine that is away. Trying again later helps.
    pub fn is_away(&self) -> bool {
        use io::ErrorKind::{
            ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, NetworkDown,
            NetworkUnreachable, NotConnected, StaleNetworkFileHandle, TimedOut,
        };
        let Self::Io { source, .. } = self else {
            return false;
        };
        matches!(
            source.kind(),
            ConnectionAborted
                | ConnectionRefused
                | ConnectionReset
                | HostUnreachable
                | NetworkDown
                | NetworkUnreachable
                | NotConnected
                | StaleNetworkFileHandle
                | TimedOut
        )
    }

    /// Whether the disk or the quota is full: waiting or making room helps, trying again at once does not.
    pub fn is_full(&self) -> bool {
        let Self::Io { source, .. } = self else {
            return false;
        };
        matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }
}
