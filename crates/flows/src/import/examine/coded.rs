//! Bytes whose content coding was not undone: whether they have it all the same.
//!
//! Many servers and crawlers name a coding and give plain bytes. Plain is what begins as a document does; a signature that
//! stands behind other bytes may lie in coded ones.

use document::media_type::MediaType;

/// The finding on the beginning of such a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// It begins as a document does.
    Plain,
    /// It may be anything; usual codings leave a mark that is not there.
    Unknown,
    /// It has the coding.
    Coded,
}

/// Looks at bytes that are declared to have a coding.
pub(crate) fn shows(coding: &str, media_type: &MediaType, head: &[u8]) -> Shown {
    let is_usual = USUAL.contains(&coding);
    match media_type.sniffed.as_deref() {
        Some(PDF) if !begins_with(head, b"%PDF") => Shown::Coded,
        Some(POSTSCRIPT) if !begins_with(head, b"%!") => Shown::Coded,
        Some(sniffed) if !is_usual && CODED.contains(&sniffed) => Shown::Coded,
        Some(_) => Shown::Plain,
        None if is_usual => Shown::Unknown,
        None => Shown::Coded,
    }
}

/// The message on such bytes.
pub(crate) fn reason(coding: &str) -> String {
    format!("the content coding {coding} cannot be undone")
}

/// Whether a signature stands at the beginning, or behind what programs write before it: a mark of the encoding, white
/// space, warnings in HTML, the commands of a printer.
fn begins_with(head: &[u8], signature: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let head = head.trim_ascii_start();
    let head = head.strip_prefix(b"\x04").unwrap_or(head);
    [signature, b"<", b"\x1B%-12345X", b"\xC5\xD0\xD3\xC6"]
        .iter()
        .any(|begin| head.starts_with(begin))
}

/// Codings that are undone wherever their mark is.
const USUAL: [&str; 4] = ["gzip", "x-gzip", "zstd", "deflate"];
/// The look of content codings.
const CODED: [&str; 4] = [
    "application/x-bzip2",
    "application/x-compress",
    "application/x-xz",
    "application/zstd",
];
const PDF: &str = "application/pdf";
const POSTSCRIPT: &str = "application/postscript";
