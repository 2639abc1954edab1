//! Writes XML 1.0: escapes what must be escaped and replaces what XML cannot carry.
//! It does not check that elements nest; the callers are few and tested against the schemas.

use std::io::{self, Write};

/// The namespace of `xsi:schemaLocation`.
pub const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Writes elements and text to an output.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Makes a writer that begins wherever the output stands.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes a start tag.
    pub fn start(&mut self, name: &str, attributes: &[(&str, &str)]) -> io::Result<()> {
        self.open(name, attributes)?;
        self.out.write_all(b">")
    }

    /// Writes an end tag.
    pub fn end(&mut self, name: &str) -> io::Result<()> {
        self.out.write_all(b"</")?;
        self.out.write_all(name.as_bytes())?;
        self.out.write_all(b">")
    }

    /// Writes an element without content.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) -> io::Result<()> {
        self.open(name, attributes)?;
        self.out.write_all(b"/>")
    }

    /// Writes an element that holds text.
    pub fn element(
        &mut self,
        name: &str,
        attributes: &[(&str, &str)],
        text: &str,
    ) -> io::Result<()> {
        self.start(name, attributes)?;
        self.text(text)?;
        self.end(name)
    }

    /// Writes text, escaped.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        escape(&mut self.out, text, false)
    }

    /// Writes bytes as they are: a piece of XML that is known to be well-formed.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// Writes a line end, for the eyes of people.
    pub fn newline(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }

    /// The output itself.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) -> io::Result<()> {
        self.out.write_all(b"<")?;
        self.out.write_all(name.as_bytes())?;
        for (attribute, value) in attributes {
            self.out.write_all(b" ")?;
            self.out.write_all(attribute.as_bytes())?;
            self.out.write_all(b"=\"")?;
            escape(&mut self.out, value, true)?;
            self.out.write_all(b"\"")?;
        }
        Ok(())
    }
}

/// Whether a character may stand in an XML 1.0 document.
pub fn is_legal(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

fn escape(out: &mut impl Write, text: &str, in_attribute: bool) -> io::Result<()> {
    let bytes = text.as_bytes();
    let mut written = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let (replacement, length): (&[u8], usize) = match byte {
            b'<' => (b"&lt;", 1),
            b'>' => (b"&gt;", 1),
            b'&' => (b"&amp;", 1),
            b'"' if in_attribute => (b"&quot;", 1),
            b'\t' if in_attribute => (b"&#9;", 1),
            b'\n' if in_attribute => (b"&#10;", 1),
            b'\r' => (b"&#13;", 1),
            b'\t' | b'\n' => continue,
            0..=0x1F => ("\u{FFFD}".as_bytes(), 1),
            // U+FFFE and U+FFFF are the only other characters of a Rust string that XML forbids.
            0xEF if matches!(bytes[at..], [0xEF, 0xBF, 0xBE | 0xBF, ..]) => {
                ("\u{FFFD}".as_bytes(), 3)
            }
            _ => continue,
        };
        out.write_all(&bytes[written..at])?;
        out.write_all(replacement)?;
        written = at + length;
    }
    out.write_all(&bytes[written..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Writer<&mut Vec<u8>>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut Writer::new(&mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes_text_and_attributes() {
        let xml = written(|w| w.element("a", &[("b", "\"<\n>")], "x & <y>\r\n"));
        assert_eq!(
            xml,
            "<a b=\"&quot;&lt;&#10;&gt;\">x &amp; &lt;y&gt;&#13;\n</a>"
        );
    }

    #[test]
    fn replaces_what_xml_cannot_carry() {
        let xml = written(|w| w.text("a\0b\u{1b}c\u{FFFE}d\u{FFFF}e\u{FFFD}f\u{EFFF}"));
        assert_eq!(
            xml,
            "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}e\u{FFFD}f\u{EFFF}"
        );
    }
}
