//! Errors that keep the provider from answering. Errors of the protocol are answers, not errors of this kind.

use std::{fmt, io};

/// Why an answer could not be given, sorted by who must act.
#[derive(Debug)]
pub enum Error {
    /// The requester is gone, or does not read.
    Output(io::Error),
    /// The repository cannot answer now; the harvester should try again later.
    Unavailable(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(error) => write!(f, "the answer could not be sent: {error}"),
            Self::Unavailable(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
