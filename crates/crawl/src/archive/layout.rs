//! How an archive is written: format, compression, and what its offsets count.

use super::{arc, warc};

/// The format and compression of a file, as `open` detected them.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) format: Format,
    pub(super) codec: Codec,
    /// All is one stream: a file that was compressed at once, or a deflated member of a WACZ. Offsets then count the
    /// bytes that come out, because those of the file do not lead to records.
    pub(super) whole: bool,
    /// The approximate expanded size of a file that is one compressed stream.
    pub(super) expanded: Option<u64>,
    pub(super) dictionary: Option<Vec<u8>>,
    /// There is not a byte of it yet, so it may become anything.
    pub(super) is_nothing: bool,
    /// The head of the first gzip member is damaged, and what it holds begins at this offset.
    pub(super) headless: Option<u64>,
}

impl Layout {
    /// Any record can be gone to, and the end of one can be looked at before the rest of it.
    pub(super) fn is_plain(&self) -> bool {
        self.codec == Codec::Plain && !self.whole
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Warc,
    Arc,
}

impl Format {
    /// Whether a record begins here, maybe behind empty lines.
    pub(super) fn begins(self, bytes: &[u8]) -> bool {
        let start = bytes.iter().position(|byte| !is_line_end(*byte));
        let bytes = start.map_or(&[][..], |start| &bytes[start..]);
        match self {
            Self::Warc => warc::begins(bytes),
            Self::Arc => arc::begins(bytes),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Plain,
    Gzip,
    Zstd,
}

pub(super) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
