//! One resource as a crawl saw it at one moment, and where it was read.

use std::fmt;
use std::path::PathBuf;

/// A capture, with what the crawl says of it. All of it is as the crawl wrote it; nothing is checked or normalised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    /// The URL as the crawler wrote it, without `<>` and line ends.
    pub url: String,
    /// The URL that led to it: Heritrix's `via`, else the `Referer` of the request.
    pub parent: Option<String>,
    /// Whether the crawl began with it.
    pub is_seed: Option<bool>,
    /// Heritrix's discovery path, such as `LLE`.
    pub path_from_seed: Option<String>,
    /// How many hops it is away from a seed; seeds have 0.
    pub depth: Option<u32>,
    /// When it was got, in seconds of UTC since 1970. Dates that do not exist are `None`.
    pub crawled: Option<i64>,
    /// The status of HTTP, or the crawler's own.
    pub status: Option<i32>,
    /// The media type that was declared, without parameters and in lower case.
    pub declared: Option<String>,
    /// The header `Last-Modified`.
    pub last_modified: Option<String>,
    /// The digest that the crawler computed, such as `sha1:BASE32`. A hint only: it may be that of the chunked bytes.
    pub digest: Option<String>,
    /// Whether its bytes have the digests that the archive says, as far as anybody wanted to know.
    pub digests: DigestCheck,
    /// Why the crawler cut it off, such as `length`, if it says so.
    pub truncated: Option<String>,
    /// The content coding that the bytes may still have, because it is unknown here or could not be undone, such as
    /// `aes128gcm`. Crawlers that decode bodies leave the header as it was, so the bytes may be plain all the same.
    pub coding: Option<String>,
    /// Defects that did not prevent reading it.
    pub oddities: Vec<Oddity>,
    /// Whether there are bytes.
    pub kind: Kind,
    /// The place it was read from.
    pub place: Place,
}

/// Something that is wrong with a capture that can be read all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Oddity {
    /// The body is shorter than the server announced.
    ShortBody {
        /// How many bytes there are.
        length: u64,
        /// How many there should be.
        announced: u64,
    },
    /// The body ends at the end of a chunk that is not its last one.
    NoLastChunk,
    /// The length in the head of the record was wrong; it was read by that of the HTTP message in it.
    Length {
        /// The stated length.
        wrong: u64,
        /// The length by which it was read.
        right: u64,
    },
    /// The HTTP head does not begin as one does.
    HttpHead,
}

impl Oddity {
    /// Whether the archive is damaged, and not only the server's answer.
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::ShortBody { .. } | Self::NoLastChunk)
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortBody { length, announced } => write!(
                f,
                "its body has {length} of the {announced} bytes that its server announced"
            ),
            Self::NoLastChunk => {
                f.write_str("its body ends without its last chunk, and may be shorter than it was")
            }
            Self::Length { wrong, right } => write!(
                f,
                "its length {wrong} is wrong; it was read with {right}, as its HTTP message says"
            ),
            Self::HttpHead => f.write_str("its HTTP head is damaged or missing"),
        }
    }
}

/// How the digests of a record compare with its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DigestCheck {
    /// `WARC-Block-Digest`, of all that is behind the head of the record.
    pub block: Checked,
    /// `WARC-Payload-Digest`, of the body: as it was transferred, without its chunks, or decoded.
    pub payload: Checked,
}

/// A record that is no capture, whose digests were compared with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordCheck {
    /// Where the record was read.
    pub place: Place,
    /// The kind of record and its URL, such as `request of http://host/`.
    pub record: String,
    /// The comparison.
    pub digests: DigestCheck,
}

/// How one digest compares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Checked {
    /// There is none, or nobody asked, or the bytes could not be read.
    #[default]
    Unchecked,
    /// It is that of the bytes.
    Fits,
    /// It is that of other bytes; the sentence says so.
    Differs(String),
    /// It cannot be compared: its algorithm is not known here, or it stands for one that was not computed.
    Unknown,
}

/// Whether a capture brings bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Kind {
    /// The bytes are there.
    #[default]
    Document,
    /// The crawler had seen these bytes before, and kept none. `digest` is theirs, if it is known.
    Revisit {
        /// The URL of the earlier capture.
        refers_to: Option<String>,
        /// When that was got, in seconds of UTC since 1970.
        refers_to_date: Option<i64>,
    },
}

/// A place in a file of a crawl.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The byte at which the record, or its part of the compressed file, begins. Where a whole file is compressed at
    /// once, it is a byte of what it expands to.
    pub offset: u64,
    /// The member of the file, if that is a WACZ.
    pub member: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(member) = &self.member {
            write!(f, "!{member}")?;
        }
        write!(f, " at offset {}", self.offset)
    }
}
