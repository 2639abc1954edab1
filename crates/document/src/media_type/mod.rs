//! The media type of a document: what the server declared, what the bytes say, and what follows.
//!
//! Servers call a PDF text/plain and an error page a PDF, so the bytes have the last word wherever they are clear. Where
//! they are not (any text, any ZIP), the server's word counts, unless the bytes cannot be what it says. A declaration
//! never makes a PDF of bytes that are none. Names are not asked: an extension is a part of a URL and says nothing.

mod extension;
mod magic;
mod markup;
mod names;
mod ole;
mod pdf;
mod postscript;
mod sniff;
mod text;
mod zip;

pub use extension::extension;

use names::{canonical, says_nothing};
use sniff::Sniffed;

/// The three media types of a document. None has parameters, all are in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MediaType {
    /// The type told by the server or the crawler.
    pub declared: Option<String>,
    /// The type told by the first bytes.
    pub sniffed: Option<String>,
    /// The type it is taken for.
    pub decided: String,
}

impl MediaType {
    /// The usual name of the type that was declared, unless that says nothing.
    pub fn told(&self) -> Option<&str> {
        told(self.declared.as_deref())
    }
}

/// How many bytes from the beginning `decide` wants to see. A document that has fewer is given whole.
pub const HEAD: usize = 16 * 1024;

/// The type of a document when neither the server nor its bytes say anything.
pub const UNKNOWN: &str = "application/octet-stream";

/// Decides on the media type of a document, by what was declared and by its first [`HEAD`] bytes.
///
/// ```
/// use document::media_type::decide;
///
/// let page = decide(Some("application/pdf"), b"<!DOCTYPE html><title>Not found</title>");
/// assert_eq!(page.decided, "text/html");
/// ```
pub fn decide(declared: Option<&str>, head: &[u8]) -> MediaType {
    let declared = declared.and_then(names::clean);
    let sniffed = sniff::sniff(&head[..head.len().min(HEAD)], text::is_binary);
    let decided = choose(declared.as_deref(), sniffed, head.is_empty());
    MediaType {
        decided: decided.to_owned(),
        sniffed: sniffed.map(|sniffed| sniffed.media_type.to_owned()),
        declared,
    }
}

/// Decides on the media type of a file that somebody names and wants to have read, by its first [`HEAD`] bytes.
///
/// Nobody declared anything, so a text with a few control characters, such as programs print for the fonts of formulas, is
/// a text here. Among all that a crawl brings it could as well be something else, and [`decide`] leaves it unknown.
pub fn decide_named(head: &[u8]) -> String {
    let sniffed = sniff::sniff(&head[..head.len().min(HEAD)], text::is_hardly_text);
    choose(None, sniffed, head.is_empty()).to_owned()
}

fn choose(declared: Option<&str>, sniffed: Option<Sniffed>, is_empty: bool) -> &str {
    match (told(declared), sniffed) {
        (Some(told), Some(sniffed)) if sniffed.may_be(told) => told,
        (_, Some(sniffed)) => sniffed.media_type,
        (Some(told), None) if names::is_always_recognised(told) => UNKNOWN,
        (Some(told), None) if is_empty && names::is_recognisable(told) => UNKNOWN,
        (Some(told), None) => told,
        (None, None) => UNKNOWN,
    }
}

fn told(declared: Option<&str>) -> Option<&str> {
    let declared = declared.map(canonical);
    declared.filter(|declared| !says_nothing(declared))
}

#[cfg(test)]
mod tests;
