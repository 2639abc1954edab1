//! Errors, sorted by whose move is next.

use std::path::Path;

/// Why nothing more is fetched, or not now.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is none that could be fetched from.
    #[error("{0}")]
    Address(String),
    /// The connection broke, or the server is silent or busy: it may answer later.
    #[error("{0}")]
    Lost(String),
    /// The server says no, or must not be trusted. To ask again would not help.
    #[error("{0}")]
    Refused(String),
    /// There is no such file, or it must not be read.
    #[error("{0}")]
    Missing(String),
    /// The server cannot go on in the middle of a file.
    #[error("{0}")]
    NoResume(String),
    /// The file is not the one that was begun with.
    #[error("it changed while it was fetched")]
    Changed,
    /// The disk does not do what it is asked for.
    #[error("{0}")]
    Disk(String),
    /// Somebody wants it to stop.
    #[error("stopped; what was fetched so far is kept")]
    Stopped,
}

impl Error {
    pub(crate) fn disk(action: &str, path: &Path, error: impl std::fmt::Display) -> Self {
        Self::Disk(format!("`{}` cannot be {action}: {error}", path.display()))
    }
}

/// Cleans a server's reply for a message: short, and without characters that steer a terminal.
pub(crate) fn said(text: &str) -> String {
    let plain = |c: char| match c.is_control() {
        true => ' ',
        false => c,
    };
    let text: String = text.chars().take(LONGEST_SAID).map(plain).collect();
    text.trim().to_owned()
}

const LONGEST_SAID: usize = 300;
