//! Why a record could not be unpacked.

use std::io;

/// An error of unpacking. All but `Output` and `ContentEncoding` are faults of the repository.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The record is not well-formed XML.
    #[error("the record is not well-formed at byte {offset}: {reason}")]
    Xml {
        /// Where.
        offset: u64,
        /// The message of the parser.
        reason: String,
    },
    /// The record is not what a record may be: it has a DOCTYPE, or is nested or split beyond all measure.
    #[error("the record is refused: {0}")]
    Refused(&'static str),
    /// A component has bytes, and nothing says which URL they belong to.
    #[error(
        "a component of the record has neither a reference nor an identifier, so its file has no name"
    )]
    NoUrl,
    /// The bytes given by value are not base64.
    #[error("the bytes of `{url}` are not valid base64")]
    Base64 {
        /// The resource.
        url: String,
    },
    /// The bytes given by value are packed in a way that we do not know.
    #[error(
        "the bytes of `{url}` have the content encoding `{coding}`, which is not supported; gzip and deflate are"
    )]
    ContentEncoding {
        /// The resource.
        url: String,
        /// The encoding.
        coding: String,
    },
    /// The bytes given by value are packed, and what was packed is damaged.
    #[error("the bytes of `{url}` cannot be unpacked: {reason}")]
    Damaged {
        /// The resource.
        url: String,
        /// The message of the decoder.
        reason: String,
    },
    /// The bytes are not those that the repository took the digest of.
    #[error(
        "the bytes of `{url}` are not those recorded: their {algorithm} is {found}, recorded is {expected}"
    )]
    DigestMismatch {
        /// The resource.
        url: String,
        /// The algorithm.
        algorithm: &'static str,
        /// The digest that the record has.
        expected: String,
        /// The digest of the bytes.
        found: String,
    },
    /// There are more bytes than are wanted.
    #[error("the bytes of `{url}` are more than {limit}; raise the limit to have them")]
    TooLarge {
        /// The resource.
        url: String,
        /// The limit.
        limit: u64,
    },
    /// The bytes cannot be written where they should go.
    #[error("the bytes of `{url}` cannot be written: {source}")]
    Output {
        /// The resource.
        url: String,
        /// The message of the output.
        source: io::Error,
    },
}
