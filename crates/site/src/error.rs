//! The errors of a site, with the culprit and the remedy.

use std::path::PathBuf;

/// An error of the site, its index or its configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The site's directory cannot be read.
    #[error("the site `{}` cannot be read: {source}; nothing known of it was changed", path.display())]
    Root {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The index cannot be read or written.
    #[error("the index `{}` cannot be used: {source}{}", path.display(), remedy(source))]
    Index {
        /// The file.
        path: PathBuf,
        /// The database's error.
        source: rusqlite::Error,
    },
    /// The place of the index cannot be used.
    #[error("the data directory `{}` cannot be used: {source}", path.display())]
    Data {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The index belongs to a newer garner.
    #[error("the index `{}` was written by a newer garner (version {version}); use that, or another data directory", path.display())]
    NewerIndex {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: i64,
    },
    /// Another process has the index.
    #[error("the index in `{}` is in use by another garner; stop it, or give another --data directory", path.display())]
    InUse {
        /// The data directory.
        path: PathBuf,
    },
    /// Another process makes the index, or has it for itself.
    #[error("the index in `{}` is being made by another process; try again later", path.display())]
    Building {
        /// The data directory.
        path: PathBuf,
    },
    /// The web server that the site stands beside cannot be asked.
    #[error("{0}")]
    Origin(String),
    /// The configuration does not make sense.
    #[error("{0}")]
    Config(String),
}

impl Error {
    /// Whether the index file itself is broken.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            Self::Index { source, .. } => {
                matches!(
                    source.sqlite_error_code(),
                    Some(DatabaseCorrupt | NotADatabase)
                )
            }
            _ => false,
        }
    }
}

fn remedy(source: &rusqlite::Error) -> &'static str {
    use rusqlite::ErrorCode;
    match source.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => {
            "; make room on its disk: changes are kept back until then, none is lost"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
            "; check that its directory exists and can be written"
        }
        _ => "",
    }
}
