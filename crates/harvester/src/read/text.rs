//! The body of an answer as text: UTF-8 that holds only what XML allows.
//!
//! What does not belong there is replaced and remembered by its offset, so that the record around it
//! can be judged, and only that record.

use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memmem;

use crate::Quirk;

/// Gives the text to the XML parser, block by block.
pub(super) struct Text {
    source: Box<dyn Read + Send>,
    /// `None`: UTF-8, which is checked and not copied.
    decoder: Option<Decoder>,
    started: bool,
    ended: bool,
    charset: Option<String>,
    raw: Vec<u8>,
    raw_length: usize,
    out: Vec<u8>,
    out_start: usize,
    out_end: usize,
    /// Decoded bytes before `out[0]`.
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

/// More bytes than may be read: travels inside of an `io::Error`.
#[derive(Debug, thiserror::Error)]
#[error("more than {0} bytes")]
pub(super) struct Limit(pub(super) u64);

impl Text {
    pub(super) fn new(
        source: Box<dyn Read + Send>,
        charset: Option<&str>,
        page_limit: u64,
        event_limit: u64,
    ) -> Self {
        Self {
            source,
            decoder: None,
            started: false,
            ended: false,
            charset: charset.map(str::to_owned),
            raw: vec![0; BLOCK],
            raw_length: 0,
            out: vec![0; BLOCK],
            out_start: 0,
            out_end: 0,
            base: 0,
            faults: Vec::new(),
            quirks: Vec::new(),
            page_limit,
            event_limit,
            event_length: 0,
        }
    }

    /// Tells that the parser has got one more piece whole.
    pub(super) fn next_event(&mut self) {
        self.event_length = 0;
    }

    /// What is in memory and was not read yet: UTF-8, and never a part of a character.
    pub(super) fn buffered(&self) -> &[u8] {
        &self.out[self.out_start..self.out_end]
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
        self.out.copy_within(self.out_start..self.out_end, 0);
        self.base += self.out_start as u64;
        self.out_end -= self.out_start;
        self.out_start = 0;
        let before = self.out_end;
        while self.out_end <= before + before / 4 && !self.ended {
            self.read_block()?;
            let Some(sound) = self.sound() else {
                break;
            };
            let end = self.out_end + sound;
            if self.out.len() < end {
                self.out.resize(end.next_power_of_two(), 0);
            }
            self.out[self.out_end..end].copy_from_slice(&self.raw[..sound]);
            self.raw.copy_within(sound..self.raw_length, 0);
            self.raw_length -= sound;
            self.out_end = end;
        }
        Ok(self.out_end > before)
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

    fn fill(&mut self) -> io::Result<()> {
        self.base += self.out_end as u64;
        self.out_start = 0;
        self.out_end = 0;
        if self.base > self.page_limit {
            return Err(io::Error::other(Limit(self.page_limit)));
        }
        while self.out_end == 0 && (!self.ended || self.raw_length > 0) {
            self.read_block()?;
            if !self.started {
                self.start()?;
            }
            match self.decoder {
                None => self.take_utf8(),
                Some(_) => self.take_decoded(),
            }
        }
        Ok(())
    }

    fn read_block(&mut self) -> io::Result<()> {
        // What was read and not taken comes first.
        if self.raw_length == self.raw.len() {
            return Ok(());
        }
        loop {
            match self.source.read(&mut self.raw[self.raw_length..]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(());
                }
                Ok(length) => {
                    self.raw_length += length;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Finds the encoding and where the document begins.
    fn start(&mut self) -> io::Result<()> {
        // The declaration must be seen whole, and a server may send byte by byte.
        while self.raw_length < DECLARATION && !self.ended {
            if memchr::memchr(b'>', &self.raw[..self.raw_length]).is_some() {
                break;
            }
            self.read_block()?;
        }
        self.started = true;
        let head = &self.raw[..self.raw_length];
        let (encoding, skipped) = match Encoding::for_bom(head) {
            Some((encoding, length)) => (encoding, length),
            None => match head {
                [b'<', 0, ..] => (UTF_16LE, 0),
                [0, b'<', ..] => (UTF_16BE, 0),
                _ => (self.declared(), 0),
            },
        };
        self.raw.copy_within(skipped..self.raw_length, 0);
        self.raw_length -= skipped;
        if encoding != UTF_8 {
            self.quirks.push(Quirk::OtherEncoding);
            self.decoder = Some(encoding.new_decoder_without_bom_handling());
            return Ok(());
        }
        let blank = self.raw[..self.raw_length]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        if blank > 0 {
            self.quirks.push(Quirk::LeadingWhitespace);
            self.raw.copy_within(blank..self.raw_length, 0);
            self.raw_length -= blank;
        }
        Ok(())
    }

    /// What the declaration says, else what the Content-Type says, else UTF-8.
    ///
    /// RFC 7303 has the Content-Type first. Quirk: servers that send UTF-8 under a default charset of
    /// ISO-8859-1 are many, and the declaration is written by the repository itself.
    fn declared(&mut self) -> &'static Encoding {
        let head = &self.raw[..self.raw_length.min(DECLARATION)];
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

    /// How much of what was read is UTF-8 and allowed in XML, up to a character of which only a part is there. `None` if
    /// something has to be mended.
    fn sound(&self) -> Option<usize> {
        let block = &self.raw[..self.raw_length];
        let valid = match std::str::from_utf8(block) {
            Ok(_) => block.len(),
            Err(error) if error.error_len().is_some() || self.ended => return None,
            Err(error) => error.valid_up_to(),
        };
        first_illegal(&block[..valid]).is_none().then_some(valid)
    }

    fn take_utf8(&mut self) {
        let Some(valid) = self.sound() else {
            return self.mend_utf8();
        };
        std::mem::swap(&mut self.raw, &mut self.out);
        let rest = self.raw_length - valid;
        if self.raw.len() < BLOCK {
            self.raw.resize(BLOCK, 0);
        }
        self.raw[..rest].copy_from_slice(&self.out[valid..self.raw_length]);
        self.raw_length = rest;
        self.out_end = valid;
    }

    fn mend_utf8(&mut self) {
        let mut mended = Vec::with_capacity(self.raw_length + 64);
        let mut at = 0;
        while at < self.raw_length {
            let block = &self.raw[at..self.raw_length];
            let (valid, bad) = match std::str::from_utf8(block) {
                Ok(_) => (block.len(), 0),
                Err(error) => (
                    error.valid_up_to(),
                    match error.error_len() {
                        Some(length) => length,
                        None if self.ended => block.len() - error.valid_up_to(),
                        None => 0,
                    },
                ),
            };
            append_legal(&mut mended, &block[..valid], self.base, &mut self.faults);
            if bad > 0 {
                self.faults.push(Fault {
                    offset: self.base + mended.len() as u64,
                    kind: FaultKind::InvalidBytes,
                });
                let (text, _) =
                    WINDOWS_1252.decode_without_bom_handling(&block[valid..valid + bad]);
                // Windows-1252 has control characters of its own in five places.
                let text: String = text.chars().map(legal_or_replacement).collect();
                mended.extend_from_slice(text.as_bytes());
            }
            at += valid + bad;
            if bad == 0 {
                break;
            }
        }
        self.raw.copy_within(at..self.raw_length, 0);
        self.raw_length -= at;
        self.out_end = mended.len();
        self.out = mended;
    }

    fn take_decoded(&mut self) {
        let Some(decoder) = &mut self.decoder else {
            return;
        };
        let block = &self.raw[..self.raw_length];
        let room = decoder
            .max_utf8_buffer_length(block.len())
            .unwrap_or(BLOCK * 4);
        let mut decoded = vec![0; room];
        let (result, read, written, replaced) =
            decoder.decode_to_utf8(block, &mut decoded, self.ended);
        debug_assert!(matches!(result, CoderResult::InputEmpty));
        self.raw.copy_within(read..self.raw_length, 0);
        self.raw_length -= read;
        let mut mended = Vec::with_capacity(written);
        if replaced {
            // Where in the block is not told; its first replacement character is near enough.
            let offset = memmem::find(&decoded[..written], REPLACEMENT).unwrap_or(0);
            self.faults.push(Fault {
                offset: self.base + offset as u64,
                kind: FaultKind::InvalidBytes,
            });
        }
        append_legal(
            &mut mended,
            &decoded[..written],
            self.base,
            &mut self.faults,
        );
        self.out_end = mended.len();
        self.out = mended;
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
        if self.out_start == self.out_end {
            if self.event_length > self.event_limit || self.faults.len() > MOST_FAULTS {
                return Err(io::Error::other(Limit(self.event_limit)));
            }
            self.fill()?;
        }
        Ok(&self.out[self.out_start..self.out_end])
    }

    fn consume(&mut self, length: usize) {
        self.out_start += length;
        self.event_length += length as u64;
    }
}

/// Copies text, with a replacement for each character that XML forbids.
fn append_legal(out: &mut Vec<u8>, text: &[u8], base: u64, faults: &mut Vec<Fault>) {
    let mut rest = text;
    while let Some((at, length)) = first_illegal(rest) {
        out.extend_from_slice(&rest[..at]);
        faults.push(Fault {
            offset: base + out.len() as u64,
            kind: FaultKind::IllegalCharacter,
        });
        out.extend_from_slice(REPLACEMENT);
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
}

/// The first character that XML 1.0 forbids, and its length. The text is valid UTF-8.
fn first_illegal(text: &[u8]) -> Option<(usize, usize)> {
    let control = first_control(text);
    let before = control.unwrap_or(text.len());
    // U+FFFE and U+FFFF; surrogates are not valid UTF-8 anyway.
    let noncharacter = memmem::find_iter(&text[..before], b"\xef\xbf")
        .find(|at| text.get(at + 2).is_some_and(|byte| *byte >= 0xbe));
    match (noncharacter, control) {
        (Some(at), _) => Some((at, 3)),
        (None, Some(at)) => Some((at, 1)),
        (None, None) => None,
    }
}

fn first_control(text: &[u8]) -> Option<usize> {
    let mut start = 0;
    // Whole pieces without a branch per byte, so that the compiler can use vectors.
    for piece in text.chunks(256) {
        let found = piece
            .iter()
            .fold(false, |found, byte| found | is_control(*byte));
        if found {
            let at = piece.iter().position(|byte| is_control(*byte))?;
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

const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
const BLOCK: usize = 64 * 1024;
/// A declaration must end within as many bytes.
const DECLARATION: usize = 1024;
const DRAINED_BLOCKS: usize = 4;
/// A page with more faults than this is no text at all.
const MOST_FAULTS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &'static [u8]) -> (String, Vec<Fault>) {
        let mut text = Text::new(Box::new(Drip(bytes)), None, u64::MAX, u64::MAX);
        let mut out = String::new();
        text.read_to_string(&mut out).unwrap();
        let faults = text.faults_before(u64::MAX);
        (out, faults)
    }

    /// Gives one byte at a time, so that every character is split.
    struct Drip(&'static [u8]);

    impl Read for Drip {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut out[..1])
        }
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
