//! The eight errors of OAI-PMH 2.0, section 3.6.

use std::fmt;

/// The protocol's error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the protocol's own")]
pub enum ErrorCode {
    BadArgument,
    BadResumptionToken,
    BadVerb,
    CannotDisseminateFormat,
    IdDoesNotExist,
    NoRecordsMatch,
    NoMetadataFormats,
    NoSetHierarchy,
}

impl ErrorCode {
    /// The code as the protocol spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadArgument => "badArgument",
            Self::BadResumptionToken => "badResumptionToken",
            Self::BadVerb => "badVerb",
            Self::CannotDisseminateFormat => "cannotDisseminateFormat",
            Self::IdDoesNotExist => "idDoesNotExist",
            Self::NoRecordsMatch => "noRecordsMatch",
            Self::NoMetadataFormats => "noMetadataFormats",
            Self::NoSetHierarchy => "noSetHierarchy",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error to be told to the harvester.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Which of the eight it is.
    pub code: ErrorCode,
    /// The mistake and its remedy, for people.
    pub message: String,
}

impl Error {
    /// Makes an error of a code.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Error {}
