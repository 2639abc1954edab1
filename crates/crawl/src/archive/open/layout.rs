//! How an archive is written: format, compression, and what its offsets count.

use crate::archive::heads::{arc, warc};

/// The format and compression of a file, as `open` detected them.
#[derive(Debug, Clone)]
pub(in crate::archive) struct Layout {
    pub(in crate::archive) format: Format,
    pub(in crate::archive) codec: Codec,
    /// All is one stream: a file that was compressed at once, or a deflated member of a WACZ. Offsets then count the
    /// bytes that come out, because those of the file do not lead to records.
    pub(in crate::archive) whole: bool,
    /// The approximate expanded size of a file that is one compressed stream.
    pub(in crate::archive) expanded: Option<u64>,
    pub(in crate::archive) dictionary: Option<Vec<u8>>,
    /// There is not a byte of it yet, so it may become anything.
    pub(in crate::archive) is_nothing: bool,
    /// The head of the first gzip member is damaged, and what it holds begins at this offset.
    pub(in crate::archive) headless: Option<u64>,
}

impl Layout {
    /// Any record can be gone to, and the end of one can be looked at before the rest of it.
    pub(in crate::archive) fn is_plain(&self) -> bool {
        self.codec == Codec::Plain && !self.whole
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::archive) enum Format {
    Warc,
    Arc,
}

impl Format {
    /// Whether a record begins here, maybe behind empty lines.
    pub(in crate::archive) fn begins(self, bytes: &[u8]) -> bool {
        let start = bytes.iter().position(|byte| !is_line_end(*byte));
        let bytes = start.map_or(&[][..], |start| &bytes[start..]);
        match self {
            Self::Warc => warc::begins(bytes),
            Self::Arc => arc::begins(bytes),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::archive) enum Codec {
    Plain,
    Gzip,
    Zstd,
}

pub(in crate::archive) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
