//! Office documents: the text in the XML of a zip archive, read as a stream and within limits.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;

use super::html::{self, Dialect};
use super::work::{Input, Work};
use super::{Extracted, Limit, Outcome, clean, dispatch, plain};
use document::container::{self, Containers};

/// Whether documents of this type are read here.
pub(super) fn reads(media_type: &str) -> bool {
    format_of(media_type).is_some()
}

/// Takes the text out of an Office document.
pub(super) fn extract(work: &Work<'_>, input: &Input, media_type: &str) -> Extracted {
    let Some(format) = format_of(media_type) else {
        return Extracted::without_text(Outcome::Unsupported, format!("{media_type} is not read"));
    };
    let mut packed = match input.bytes() {
        Ok(packed) => packed,
        Err(error) => return dispatch::unreadable(&error),
    };
    let limits = container::Limits {
        size: work.options().unpacked_bytes,
        depth: 1,
        ..container::Limits::default()
    };
    let zip = Containers {
        gzip: false,
        tar: false,
        zip: true,
    };
    let mut parts = Parts::new(format, work.options().text_bytes);
    let opened = container::open(&[], &mut packed, zip, &limits, &mut |path, bytes| {
        parts.take(path, bytes)
    });
    match opened {
        Ok(opened) if parts.is_empty() => {
            let encrypted = opened
                .skipped
                .iter()
                .any(|member| member.reason.contains("encrypted"));
            let outcome = if encrypted {
                Outcome::Encrypted
            } else {
                Outcome::Damaged
            };
            return Extracted::without_text(outcome, "it has no part with the text");
        }
        // The text before the damage is there.
        Err(error) if parts.is_empty() => {
            let outcome = if error.is_bomb() {
                Outcome::Limit(Limit::Size)
            } else {
                Outcome::Damaged
            };
            return Extracted::without_text(outcome, error.to_string());
        }
        _ => {}
    }
    let is_part = parts.room == 0;
    plain::finish(work, clean::text(&parts.joined()), "garner-office", is_part)
}

/// The names of the parts of a format, and the elements in them that hold text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Word,
    Slides,
    Sheet,
    OpenDocument,
}

fn format_of(media_type: &str) -> Option<Format> {
    if media_type.starts_with("application/vnd.oasis.opendocument.") {
        return Some(Format::OpenDocument);
    }
    let kind = media_type.strip_prefix("application/vnd.openxmlformats-officedocument.");
    let kind = kind.or_else(|| media_type.strip_prefix("application/vnd.ms-"))?;
    match kind {
        kind if kind.starts_with("wordprocessingml.") => Some(Format::Word),
        kind if kind.starts_with("presentationml.") => Some(Format::Slides),
        kind if kind.starts_with("spreadsheetml.") => Some(Format::Sheet),
        kind if kind.starts_with("word.") && kind.ends_with(".macroenabled.12") => {
            Some(Format::Word)
        }
        kind if kind.starts_with("powerpoint.") && kind.ends_with(".macroenabled.12") => {
            Some(Format::Slides)
        }
        kind if kind.starts_with("excel.") && kind.ends_with(".macroenabled.12") => {
            Some(Format::Sheet)
        }
        _ => None,
    }
}

impl Format {
    /// Where a part stands among the others; `None` if it holds no text.
    fn position(self, path: &str) -> Option<u32> {
        match self {
            Self::Word => match path {
                "word/document.xml" => Some(0),
                "word/footnotes.xml" => Some(1),
                "word/endnotes.xml" => Some(2),
                _ => None,
            },
            Self::Slides => {
                let number = path
                    .strip_prefix("ppt/slides/slide")?
                    .strip_suffix(".xml")?;
                number.parse().ok()
            }
            Self::Sheet => (path == "xl/sharedStrings.xml").then_some(0),
            Self::OpenDocument => (path == "content.xml").then_some(0),
        }
    }
}

/// The texts of the parts, in their order.
struct Parts {
    format: Format,
    texts: BTreeMap<u32, String>,
    /// How many more bytes there may be.
    room: usize,
}

impl Parts {
    fn new(format: Format, room: usize) -> Self {
        Self {
            format,
            texts: BTreeMap::new(),
            room,
        }
    }

    fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    fn take(&mut self, path: &str, bytes: &mut dyn Read) -> ControlFlow<()> {
        let Some(position) = self.format.position(path) else {
            return ControlFlow::Continue(());
        };
        let text = read(bytes);
        self.room = self.room.saturating_sub(text.len());
        self.texts.insert(position, text);
        match self.room {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn joined(self) -> String {
        let between = if self.format == Format::Slides {
            "\x0C"
        } else {
            "\n"
        };
        let texts: Vec<_> = self.texts.into_values().collect();
        texts.join(between)
    }
}

/// The text of a part, as far as it can be read.
fn read(bytes: &mut dyn Read) -> String {
    let mut part = Vec::new();
    // The text read before damage is there; the archive says where the fault was.
    let _ = bytes.take(MOST_PART).read_to_end(&mut part);
    html::text_of(&String::from_utf8_lossy(&part), Dialect::Office)
}

/// Markup is many times longer than the text in it, but a part longer than that is no document that somebody wrote.
const MOST_PART: u64 = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_media_types() {
        let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        assert_eq!(format_of(word), Some(Format::Word));
        assert_eq!(
            format_of("application/vnd.ms-powerpoint.presentation.macroenabled.12"),
            Some(Format::Slides)
        );
        assert_eq!(
            format_of("application/vnd.oasis.opendocument.text"),
            Some(Format::OpenDocument)
        );
        assert_eq!(format_of("application/vnd.ms-excel"), None);
        assert_eq!(format_of("application/msword"), None);
    }

    #[test]
    fn only_what_is_written_counts() {
        let part = "<w:p><w:r><w:t xml:space=\"preserve\">On </w:t></w:r><w:r><w:t>Trees &amp; more</w:t></w:r></w:p>\
                    <w:p><w:r><w:instrText>PAGE</w:instrText><w:delText>gone</w:delText><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r></w:p>";
        assert_eq!(read(&mut part.as_bytes()), "On Trees & more\n\na b");
        let part = "<text:h>On</text:h><text:p>one<text:s/>two<text:line-break/>three</text:p>";
        assert_eq!(read(&mut part.as_bytes()), "On\n\none two\nthree");
    }
}
