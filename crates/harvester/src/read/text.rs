//! The body of an answer as text: UTF-8 that holds only what XML allows.
//!
//! Characters that do not belong there are replaced and remembered by their offset, so that the record around them
//! can be judged, and only that record.

use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memmem;

use crate::Quirk;
use crate::buffers::Buffer;

/// Gives the text to the XML parser, block by block.
pub(super) struct Text {
    source: Box<dyn BufRead + Send>,
    /// `None`: UTF-8, which is checked and taken as it is.
    decoder: Option<Decoder>,
    started: bool,
    /// Whether text before the document is passed over.
    passes_over: bool,
    ended: bool,
    charset: Option<String>,
    /// The bytes read that cannot be taken yet: the beginning, until its encoding is known, or a part of a character.
    raw: Vec<u8>,
    text: Buffer,
    /// How much of the text was read.
    read: usize,
    /// Decoded bytes before the text.
    base: u64,
    faults: Vec<Fault>,
    quirks: Vec<Quirk>,
    page_limit: u64,
    event_limit: u64,
    event_length: u64,
}

/// Something that does not belong into the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    /// Where, in decoded bytes.
    pub(super) offset: u64,
    pub(super) kind: FaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    InvalidBytes,
    IllegalCharacter,
}

/// A limit that was reached: travels inside of an `io::Error`.
#[derive(Debug, thiserror::Error)]
pub(super) enum Limit {
    #[error("more than {0} bytes")]
    Bytes(u64),
    #[error("more than {0} bytes or characters that XML forbids")]
    Faults(usize),
}

impl Text {
    pub(super) fn new(
        source: Box<dyn BufRead + Send>,
        charset: Option<&str>,
        (page_limit, event_limit): (u64, u64),
        mut text: Buffer,
    ) -> Self {
        // A block, and before it the part that was there of a record.
        text.reserve(2 * BLOCK);
        Self {
            source,
            decoder: None,
            started: false,
            passes_over: false,
            ended: false,
            charset: charset.map(str::to_owned),
            raw: Vec::new(),
            text,
            read: 0,
            base: 0,
            faults: Vec::new(),
            quirks: Vec::new(),
            page_limit,
            event_limit,
            event_length: 0,
        }
    }

    /// Passes over what stands before the document, as warnings of PHP do.
    pub(super) fn pass_over_leading_text(&mut self) {
        self.passes_over = true;
    }

    /// Tells that the parser has got one more piece whole.
    pub(super) fn next_event(&mut self) {
        self.event_length = 0;
    }

    /// The bytes in memory that were not read yet. The parser stops at characters of ASCII alone.
    pub(super) fn buffered(&self) -> &str {
        &self.text[self.read..]
    }

    /// Passes over bytes that are in memory.
    pub(super) fn skip(&mut self, length: usize) {
        self.consume(length);
    }

    /// Reads more behind what is in memory, about a quarter of that; whether something came. What has to be decoded or
    /// mended only comes by `fill`.
    pub(super) fn extend(&mut self) -> io::Result<bool> {
        if self.decoder.is_some() || self.base > self.page_limit {
            return Ok(false);
        }
        self.forget();
        let before = self.text.len();
        while self.text.len() <= before + before / 4 && !self.ended {
            if !self.take_sound()? {
                break;
            }
        }
        Ok(self.text.len() > before)
    }

    /// Takes out what is in memory from an offset on and what follows it, up to the next `<`, piece by piece; returns how
    /// many bytes that were. It ends early at what has to be mended, and at the end of the page.
    pub(super) fn take_out(&mut self, start: usize, mut take: impl FnMut(&str)) -> io::Result<u64> {
        self.forget();
        let before = self.base;
        loop {
            let end = memchr::memchr(b'<', &self.text.as_bytes()[start..]);
            let length = end.unwrap_or(self.text.len() - start);
            take(&self.text[start..start + length]);
            self.text.drain(start..start + length);
            self.base += length as u64;
            let is_over = self.ended || self.base > self.page_limit;
            if end.is_some() || is_over || !self.take_sound()? {
                return Ok(self.base - before);
            }
        }
    }

    /// Takes the faults before an offset.
    pub(super) fn faults_before(&mut self, offset: u64) -> Vec<Fault> {
        if self.faults.is_empty() {
            return Vec::new();
        }
        let split = self.faults.partition_point(|fault| fault.offset < offset);
        self.faults.drain(..split).collect()
    }

    /// Whether something is wrong before an offset.
    pub(super) fn has_fault_before(&self, offset: u64) -> bool {
        self.faults
            .first()
            .is_some_and(|fault| fault.offset < offset)
    }

    pub(super) fn quirks(&mut self) -> Vec<Quirk> {
        std::mem::take(&mut self.quirks)
    }

    /// Reads a little of what follows the document, so that the connection can be used again.
    /// Tells whether more than blank space was there.
    pub(super) fn drain(&mut self) -> bool {
        let mut content = false;
        for _ in 0..DRAINED_BLOCKS {
            let Ok(block) = self.fill_buf() else {
                return content;
            };
            if block.is_empty() {
                return content;
            }
            content |= !block.iter().all(u8::is_ascii_whitespace);
            let length = block.len();
            self.consume(length);
            self.next_event();
        }
        content
    }

    /// Passes over everything that follows, so that an error at the end of the body is met.
    pub(super) fn pass_over_rest(&mut self) -> io::Result<()> {
        let mut total = self.base;
        loop {
            let length = block(&mut self.source)?.len();
            if length == 0 {
                return Ok(());
            }
            self.source.consume(length);
            total += length as u64;
            if total > self.page_limit {
                return Err(io::Error::other(Limit::Bytes(self.page_limit)));
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.forget();
        if self.base > self.page_limit {
            return Err(io::Error::other(Limit::Bytes(self.page_limit)));
        }
        if !self.started {
            self.start()?;
            self.take_raw();
        }
        while self.text.is_empty() && (!self.ended || !self.raw.is_empty()) {
            if self.take_sound()? {
                continue;
            }
            if self.raw.is_empty() {
                self.read_block()?;
            }
            self.take_raw();
        }
        Ok(())
    }

    /// Forgets what was read.
    fn forget(&mut self) {
        self.text.drain(..self.read);
        self.base += self.read as u64;
        self.read = 0;
    }

    /// Reads a block behind what cannot be taken yet.
    fn read_block(&mut self) -> io::Result<()> {
        let block = block(&mut self.source)?;
        self.ended = block.is_empty();
        self.raw.extend_from_slice(block);
        let length = block.len();
        self.source.consume(length);
        Ok(())
    }

    /// Finds the encoding and where the document begins.
    fn start(&mut self) -> io::Result<()> {
        // The declaration must be seen whole, and a server may send byte by byte.
        while self.raw.len() < DECLARATION && !self.ended {
            if memchr::memchr(b'>', &self.raw).is_some() {
                break;
            }
            self.read_block()?;
        }
        self.started = true;
        if self.passes_over {
            self.find_document()?;
        }
        let (encoding, skipped) = match Encoding::for_bom(&self.raw) {
            Some((encoding, length)) => (encoding, length),
            None => match self.raw[..] {
                [b'<', 0, ..] => (UTF_16LE, 0),
                [0, b'<', ..] => (UTF_16BE, 0),
                _ => (self.declared(), 0),
            },
        };
        self.raw.drain(..skipped);
        if encoding != UTF_8 {
            self.quirks.push(Quirk::OtherEncoding);
            self.decoder = Some(encoding.new_decoder_without_bom_handling());
            return Ok(());
        }
        let blank = self.raw.len() - self.raw.trim_ascii_start().len();
        if blank > 0 {
            self.quirks.push(Quirk::LeadingWhitespace);
            self.raw.drain(..blank);
        }
        Ok(())
    }

    /// Finds where the document begins, if something else stands before it.
    fn find_document(&mut self) -> io::Result<()> {
        let begins = self.raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.raw);
        let begins = begins.trim_ascii_start();
        let is_xml = [&b"<?"[..], b"<!", b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<"];
        if is_xml.iter().any(|beginning| begins.starts_with(beginning)) {
            return Ok(());
        }
        loop {
            if let Some(at) = beginning_of_document(&self.raw) {
                // A byte order mark and blanks are no text.
                if self.raw[..at].iter().any(|byte| byte.is_ascii_graphic()) {
                    self.quirks.push(Quirk::LeadingText);
                    self.raw.drain(..at);
                }
                return Ok(());
            }
            if self.ended || self.raw.len() > LEADING {
                return Ok(());
            }
            self.read_block()?;
        }
    }

    /// The encoding of the declaration, else of the Content-Type, else UTF-8.
    ///
    /// RFC 7303 has the Content-Type first. Quirk: servers that send UTF-8 under a default charset of
    /// ISO-8859-1 are many, and the declaration is written by the repository itself.
    fn declared(&mut self) -> &'static Encoding {
        let head = &self.raw[..self.raw.len().min(DECLARATION)];
        let label = declared_encoding(head).or_else(|| self.charset.clone());
        let Some(label) = label else {
            return UTF_8;
        };
        match Encoding::for_label(label.as_bytes()) {
            // Bytes that begin with an ASCII `<` are not UTF-16, whatever they say.
            Some(encoding) if encoding.is_ascii_compatible() => encoding,
            Some(_) => UTF_8,
            None => {
                self.quirks.push(Quirk::UnknownEncoding);
                UTF_8
            }
        }
    }

    /// Takes a block, up to a character of which only a part is there. `false` if it has to be decoded or something in it
    /// has to be mended; then nothing is taken.
    fn take_sound(&mut self) -> io::Result<bool> {
        if self.decoder.is_some() {
            return Ok(false);
        }
        if !self.raw.is_empty() {
            self.read_block()?;
            let sound = sound(&self.raw).filter(|_| !self.ended);
            let length = sound.map(|sound| {
                self.text.push_str(sound);
                sound.len()
            });
            self.raw.drain(..length.unwrap_or(0));
            return Ok(length.is_some());
        }
        let block = block(&mut self.source)?;
        self.ended = block.is_empty();
        let Some(sound) = sound(block) else {
            return Ok(false);
        };
        self.text.push_str(sound);
        self.raw.extend_from_slice(&block[sound.len()..]);
        let length = block.len();
        self.source.consume(length);
        Ok(true)
    }

    /// Takes what was read, whatever it is.
    fn take_raw(&mut self) {
        match self.decoder {
            None => self.mend_utf8(),
            Some(_) => self.take_decoded(),
        }
    }

    fn mend_utf8(&mut self) {
        let mut mended = String::with_capacity(self.raw.len() + 64);
        let mut at = 0;
        while at < self.raw.len() {
            let block = &self.raw[at..];
            let (valid, bad) = match str::from_utf8(block) {
                Ok(text) => (text, 0),
                Err(error) => (
                    str::from_utf8(&block[..error.valid_up_to()]).unwrap_or_default(),
                    match error.error_len() {
                        Some(length) => length,
                        None if self.ended => block.len() - error.valid_up_to(),
                        None => 0,
                    },
                ),
            };
            append_legal(&mut mended, valid, self.base, &mut self.faults);
            let bad = &block[valid.len()..valid.len() + bad];
            if !bad.is_empty() {
                self.faults.push(Fault {
                    offset: self.base + mended.len() as u64,
                    kind: FaultKind::InvalidBytes,
                });
                let (text, _) = WINDOWS_1252.decode_without_bom_handling(bad);
                // Windows-1252 has control characters of its own in five places.
                mended.extend(text.chars().map(legal_or_replacement));
            }
            at += valid.len() + bad.len();
            if bad.is_empty() {
                break;
            }
        }
        self.raw.drain(..at);
        self.text.push_str(&mended);
    }

    fn take_decoded(&mut self) {
        let Some(decoder) = &mut self.decoder else {
            return;
        };
        let room = decoder
            .max_utf8_buffer_length(self.raw.len())
            .unwrap_or(BLOCK * 4);
        let mut decoded = String::with_capacity(room);
        let (result, read, replaced) =
            decoder.decode_to_string(&self.raw, &mut decoded, self.ended);
        debug_assert!(matches!(result, CoderResult::InputEmpty));
        self.raw.drain(..read);
        if replaced {
            // Where in the block is not told; its first replacement character is near enough.
            let offset = decoded.find(char::REPLACEMENT_CHARACTER).unwrap_or(0);
            self.faults.push(Fault {
                offset: self.base + offset as u64,
                kind: FaultKind::InvalidBytes,
            });
        }
        append_legal(&mut self.text, &decoded, self.base, &mut self.faults);
    }
}

impl Read for Text {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let block = self.fill_buf()?;
        let length = block.len().min(out.len());
        out[..length].copy_from_slice(&block[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Text {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read == self.text.len() {
            if self.event_length > self.event_limit {
                return Err(io::Error::other(Limit::Bytes(self.event_limit)));
            }
            if self.faults.len() > MOST_FAULTS {
                return Err(io::Error::other(Limit::Faults(MOST_FAULTS)));
            }
            self.fill()?;
        }
        Ok(&self.text.as_bytes()[self.read..])
    }

    fn consume(&mut self, length: usize) {
        self.read += length;
        self.event_length += length as u64;
    }
}

/// The beginning of a source, up to some length and a whole character; empty at its end.
fn block(source: &mut dyn BufRead) -> io::Result<&[u8]> {
    while let Err(error) = source.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let whole = source.fill_buf()?;
    if whole.len() <= BLOCK {
        return Ok(whole);
    }
    let mut ends = (BLOCK - 3..=BLOCK).rev();
    let end = ends.find(|end| whole[*end] & 0xc0 != 0x80);
    Ok(&whole[..end.unwrap_or(BLOCK)])
}

/// The beginning of a block that is UTF-8 and allowed in XML, up to a character of which only a part is there. `None` if
/// something has to be mended.
fn sound(block: &[u8]) -> Option<&str> {
    let text = match str::from_utf8(block) {
        Ok(text) => text,
        Err(error) if error.error_len().is_some() => return None,
        Err(error) => str::from_utf8(&block[..error.valid_up_to()]).ok()?,
    };
    first_illegal(text).is_none().then_some(text)
}

/// Copies text, with a replacement for each character that XML forbids.
fn append_legal(out: &mut String, text: &str, base: u64, faults: &mut Vec<Fault>) {
    let mut rest = text;
    while let Some((at, length)) = first_illegal(rest) {
        out.push_str(&rest[..at]);
        faults.push(Fault {
            offset: base + out.len() as u64,
            kind: FaultKind::IllegalCharacter,
        });
        out.push(char::REPLACEMENT_CHARACTER);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
}

/// The first character that XML 1.0 forbids, and its length.
fn first_illegal(text: &str) -> Option<(usize, usize)> {
    let text = text.as_bytes();
    let control = first_control(text);
    let before = &text[..control.unwrap_or(text.len())];
    // U+FFFE and U+FFFF; surrogates are not valid UTF-8 anyway. Most texts hold nothing that begins like them.
    let noncharacter = memchr::memchr(0xef, before).and_then(|first| {
        let mut found = memmem::find_iter(&before[first..], b"\xef\xbf").map(|at| first + at);
        found.find(|at| before.get(at + 2).is_some_and(|byte| *byte >= 0xbe))
    });
    match (noncharacter, control) {
        (Some(at), _) => Some((at, 3)),
        (None, Some(at)) => Some((at, 1)),
        (None, None) => None,
    }
}

fn first_control(text: &[u8]) -> Option<usize> {
    let mut start = 0;
    // Whole pieces without a branch per byte, so that the compiler can use vectors; and most pieces hold no control
    // characters but line feeds.
    for piece in text.chunks(256) {
        let suspicious = piece.iter().fold(false, |found, byte| {
            found | ((*byte < 0x20) & (*byte != b'\n'))
        });
        if suspicious && let Some(at) = piece.iter().position(|byte| is_control(*byte)) {
            return Some(start + at);
        }
        start += piece.len();
    }
    None
}

fn is_control(byte: u8) -> bool {
    (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r')
}

/// Whether XML 1.0 allows a character.
pub(super) fn is_legal(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..)
}

fn legal_or_replacement(c: char) -> char {
    if is_legal(c) { c } else { '\u{fffd}' }
}

/// Where a document of the protocol begins: its declaration, or else its root element.
fn beginning_of_document(bytes: &[u8]) -> Option<usize> {
    let declaration = memmem::find(bytes, b"<?xml");
    let root = memmem::find(bytes, b"OAI-PMH").and_then(|name| {
        let start = memchr::memrchr(b'<', &bytes[..name])?;
        let prefix = &bytes[start + 1..name];
        let is_root =
            prefix.is_empty() || prefix.ends_with(b":") && prefix.iter().all(|byte| *byte > b' ');
        is_root.then_some(start)
    });
    declaration.or(root)
}

/// The encoding that an XML declaration names.
fn declared_encoding(head: &[u8]) -> Option<String> {
    let head = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = memmem::find(head, b"?>")?;
    let declaration = &head[..end];
    let at = memmem::find(declaration, b"encoding")? + b"encoding".len();
    let rest = declaration[at..].trim_ascii_start();
    let rest = rest.strip_prefix(b"=")?.trim_ascii_start();
    let (quote, rest) = rest.split_first()?;
    let end = memchr::memchr(*quote, rest)?;
    String::from_utf8(rest[..end].to_vec()).ok()
}

const BLOCK: usize = 64 * 1024;
/// A declaration must end within as many bytes.
const DECLARATION: usize = 1024;
/// A document must begin within as many bytes.
const LEADING: usize = 64 * 1024;
const DRAINED_BLOCKS: usize = 4;
/// A page with more faults than this is no text at all.
const MOST_FAULTS: usize = 100_000;

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// Gives one byte at a time, so that every character is split.
    fn read(bytes: &'static [u8]) -> (String, Vec<Fault>) {
        let drip = BufReader::with_capacity(1, bytes);
        let mut text = Text::new(
            Box::new(drip),
            None,
            (u64::MAX, u64::MAX),
            Buffer::default(),
        );
        let mut out = String::new();
        text.read_to_string(&mut out).unwrap();
        let faults = text.faults_before(u64::MAX);
        (out, faults)
    }

    #[test]
    fn characters_split_between_blocks_stay_whole() {
        let (text, faults) = read("<a>žluťoučký 🐎</a>".as_bytes());
        assert_eq!(text, "<a>žluťoučký 🐎</a>");
        assert!(faults.is_empty());
    }

    #[test]
    fn foreign_bytes_are_read_as_windows_1252_and_remembered() {
        let (text, faults) = read(b"<a>caf\xe9 \x93ok\x94</a>");
        assert_eq!(text, "<a>café “ok”</a>");
        assert_eq!(faults[0].offset, 6);
        assert_eq!(faults[0].kind, FaultKind::InvalidBytes);
    }

    #[test]
    fn forbidden_characters_are_replaced_and_remembered() {
        let (text, faults) = read("<a>x\u{1a}y\u{ffff}\u{fffd}</a>".as_bytes());
        assert_eq!(text, "<a>x\u{fffd}y\u{fffd}\u{fffd}</a>");
        assert_eq!(faults.len(), 2);
        assert_eq!((faults[0].offset, faults[1].offset), (4, 8));
    }

    #[test]
    fn declared_and_marked_encodings_are_decoded() {
        let (text, faults) = read(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>caf\xe9</a>");
        assert!(text.ends_with("<a>café</a>"));
        assert!(faults.is_empty());
        let (text, _) = read(b"\xff\xfe<\0a\0/\0>\0");
        assert_eq!(text, "<a/>");
        let (text, _) = read(b"\xef\xbb\xbf<a/>");
        assert_eq!(text, "<a/>");
    }
}
