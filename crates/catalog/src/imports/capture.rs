//! A capture as a flow hands it over, and the placement of its bytes.

use serde::{Deserialize, Serialize};

/// A capture of a document that passed all filters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureRow {
    /// The URL, normalised, of any length.
    pub url: String,
    /// The identity of the document: the MD5 of the URL, in hexadecimal. Of a document inside of a container,
    /// that of the URL and the member.
    pub md5: String,
    /// The host of the URL.
    pub host: String,
    /// The page that linked to it.
    pub parent: Option<ParentRow>,
    /// How many links away from a seed.
    pub depth: Option<u32>,
    /// Whether the crawl began with it.
    pub is_seed: Option<bool>,
    /// When it was crawled, in seconds.
    pub crawled: i64,
    /// Its bytes, as far as there are any.
    pub content: ContentRow,
    /// The media type that the server said.
    pub declared_type: Option<String>,
    /// The media type that the bytes look like.
    pub sniffed_type: Option<String>,
    /// The media type that was decided on.
    pub media_type: String,
    /// Where in a container it lies.
    pub member: Option<String>,
    /// Which file and which place of it the capture is from, for people.
    pub source: String,
    /// Which digests of its archive are those of other bytes: `block`, `payload`, or `block, payload`.
    pub digest_mismatch: Option<String>,
}

/// A page that links to documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentRow {
    /// The URL, normalised, of any length.
    pub url: String,
    /// The MD5 of the URL, in hexadecimal.
    pub md5: String,
    /// The host of the URL.
    pub host: String,
}

/// The bytes of a capture, as far as there are any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContentRow {
    /// It has bytes.
    Bytes {
        /// Their SHA-1, in hexadecimal.
        sha1: String,
        /// Their SHA-256, in hexadecimal.
        sha256: String,
        /// How many there are.
        size: u64,
        /// How the name of their file ends, without a dot.
        extension: String,
    },
    /// The crawler saw what it had seen before, and kept no bytes.
    Revisit {
        /// The SHA-1 of the bytes in hexadecimal, if that is known. It may be of the bytes as they were sent.
        sha1: Option<String>,
    },
    /// Something more is known of an earlier capture: its parent, its depth, that it was a seed.
    EdgeOnly,
}

/// The placement of the bytes of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// They go into the collection under this number.
    Store {
        /// The number of the content.
        number: i64,
    },
    /// They are there already, or another capture of the same group brings them.
    Known {
        /// The number of the content.
        number: i64,
    },
    /// They are not needed: there are none, or something newer is known of the URL.
    Nothing,
}

/// The outcome of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureOutcome {
    /// Neither the URL nor the content was known.
    New,
    /// The URL was not known, the content was.
    NewUrl,
    /// The URL was known with another content, which was crawled earlier.
    NewVersion,
    /// The URL was known with another content, which was crawled later.
    Older,
    /// The URL was known with this content.
    Unchanged,
    /// A revisit, or an edge, of a URL that is known.
    Revisited,
    /// A revisit, or an edge, of a URL that no bytes are known of. It counts when they come.
    RevisitUnknown,
}

impl Placement {
    /// The number of the content, if it is needed.
    pub fn number(self) -> Option<i64> {
        match self {
            Self::Store { number } | Self::Known { number } => Some(number),
            Self::Nothing => None,
        }
    }
}

impl CaptureRow {
    /// Its identity: the MD5 of its URL, and the SHA-1 of its bytes.
    pub fn identity(&self) -> (&str, Option<&str>) {
        (&self.md5, self.content.sha1())
    }
}

impl ContentRow {
    pub(crate) fn has_bytes(&self) -> bool {
        matches!(self, Self::Bytes { .. })
    }

    pub(crate) fn sha1(&self) -> Option<&str> {
        match self {
            Self::Bytes { sha1, .. } => Some(sha1),
            Self::Revisit { sha1 } => sha1.as_deref(),
            Self::EdgeOnly => None,
        }
    }
}
