//! Where in a file something is wrong, and what.

use std::path::{Path, PathBuf};

use roxmltree::{Attribute, Document, Node};

use crate::xpath;

/// Something is wrong at a place of a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct Malformed {
    /// Counted from 1.
    pub line: u32,
    /// Counted in characters, from 1.
    pub column: u32,
    /// The fault.
    pub reason: String,
}

impl Malformed {
    pub(crate) fn at(text: &str, offset: usize, reason: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Self {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            reason: reason.into(),
        }
    }

    pub(super) fn from_parser(text: &str, error: roxmltree::Error) -> Self {
        if matches!(error, roxmltree::Error::DtdDetected) {
            let offset = text.find("<!DOCTYPE").unwrap_or(0);
            return Self::at(text, offset, "a document type declaration is not accepted");
        }
        let position = error.pos();
        let message = error.to_string();
        // The parser's message ends with its position, which is told already.
        let reason = message.split(" at ").next().unwrap_or(&message);
        Self {
            line: position.row,
            column: position.col,
            reason: reason.to_owned(),
        }
    }
}

/// A file of rules could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is broken.
    #[error("{}: {malformed}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where and why.
        malformed: Malformed,
    },
}

/// Reads a file of rules with its parser.
pub(crate) fn load<T>(
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, Malformed>,
) -> Result<T, LoadError> {
    let bytes = std::fs::read(path).map_err(|source| LoadError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    parse(&bytes).map_err(|malformed| LoadError::Broken {
        path: path.to_owned(),
        malformed,
    })
}

/// A complaint about a node.
pub(crate) fn complaint(node: Node, reason: impl Into<String>) -> Malformed {
    let document = node.document();
    Malformed::at(document.input_text(), node.range().start, reason)
}

/// A complaint about a place inside of the value of an attribute. Where the value holds references, what is written
/// differs from what it means, and the beginning of the value must do.
pub(crate) fn complaint_inside(
    document: &Document,
    attribute: &Attribute,
    error: &xpath::Error,
) -> Malformed {
    let text = document.input_text();
    let range = attribute.range_value();
    let literal = text.get(range.clone()) == Some(attribute.value());
    let offset = match literal {
        true => range.start + error.at,
        false => range.start,
    };
    Malformed::at(text, offset, error.reason.clone())
}
