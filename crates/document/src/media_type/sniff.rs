//! The meaning of the first bytes, in the order in which it is looked for.

use super::names::is_recognisable;
use super::{magic, markup, ole, pdf, postscript, text, zip};

/// The type found, and how far the server may contradict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sniffed {
    pub(super) media_type: &'static str,
    /// The other types that the same bytes could be.
    pub(super) family: Family,
}

/// Formats that are built on others: the bytes show the ground, and the server may know the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// It is this and nothing else.
    Certain,
    /// A ZIP archive, which many formats are.
    Zip,
    /// An OOXML document; its templates and those with macros differ in one member.
    OfficeOpenXml,
    /// An OLE2 file whose streams are not in sight.
    Ole,
    /// XML, with a vocabulary that is not known.
    Xml,
    /// HTML, in one of its two spellings.
    Html,
    /// A text that holds tags: a page, or something else that allows comments or tags.
    TaggedText,
    /// A text.
    Text,
}

impl Sniffed {
    pub(super) const fn certain(media_type: &'static str) -> Self {
        Self::of(media_type, Family::Certain)
    }

    pub(super) const fn of(media_type: &'static str, family: Family) -> Self {
        Self { media_type, family }
    }

    /// Whether the bytes may be what was declared, so that it is the better answer.
    pub(super) fn may_be(&self, declared: &str) -> bool {
        let is_xml = declared.ends_with("+xml") || declared.ends_with("/xml");
        let is_media = ["image/", "audio/", "video/"]
            .iter()
            .any(|kind| declared.starts_with(kind));
        let is_text = declared.starts_with("text/");
        match self.family {
            Family::Certain => false,
            Family::Zip => {
                let in_zip = zip::is_in_zip(declared);
                in_zip || !is_recognisable(declared) && !is_media && !is_text && !is_xml
            }
            Family::OfficeOpenXml => {
                let relatives = self
                    .media_type
                    .rsplit_once('.')
                    .map_or("", |(start, _)| start);
                declared.contains("macroenabled") || declared.starts_with(relatives)
            }
            Family::Ole => {
                let in_ole = ole::is_in_ole(declared);
                in_ole || !is_recognisable(declared) && !is_media && !is_text && !is_xml
            }
            Family::Xml => is_xml || declared == "text/html" || is_text && declared != "text/plain",
            Family::Html => matches!(declared, "text/html" | "application/xhtml+xml"),
            Family::TaggedText => {
                (is_text && declared != "text/plain" || is_xml || is_script(declared)) && !is_media
            }
            Family::Text => !is_recognisable(declared) && (!is_media || is_xml),
        }
    }
}

/// The type of the bytes; `None` if they are binary and of no known kind, or if there are none. The caller says what is binary.
pub(super) fn sniff(head: &[u8], is_binary: fn(&[u8]) -> bool) -> Option<Sniffed> {
    if let Some(found) = magic::sniff(head) {
        return Some(found);
    }
    if zip::is_zip(head) {
        return Some(zip::sniff(head));
    }
    if ole::is_ole(head) {
        return Some(ole::sniff(head));
    }
    // Before markup: programs on web servers print warnings in HTML in front of a PDF.
    let readable = text::ascii(head);
    let page = markup::sniff(&readable);
    if let Some(found) = pdf::sniff(head, page.is_some()) {
        return Some(found);
    }
    if let Some(found) = postscript::sniff(head, page.is_some()) {
        return Some(found);
    }
    if head.is_empty() || is_binary(&readable) {
        return None;
    }
    Some(page.unwrap_or(Sniffed::of("text/plain", Family::Text)))
}

fn is_script(declared: &str) -> bool {
    declared.ends_with("javascript")
        || declared.ends_with("ecmascript")
        || declared.ends_with("json")
}
