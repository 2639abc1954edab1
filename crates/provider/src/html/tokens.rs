//! Splits XML that arrives in pieces into tags and text, in bounded memory. It trusts the order of the tags, as the
//! answers are ours, but nothing of their content.

use std::io;

/// A piece of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A start tag: qualified name and decoded attributes.
    Start(String, Vec<(String, String)>),
    /// The end of the innermost element.
    End,
    /// Some decoded text; a long text comes in several pieces.
    Text(String),
}

/// The position in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Text,
    Tag,
    Cdata,
    Comment,
}

/// Splits what it is given.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    place: Place,
    held: Vec<u8>,
    quote: Option<u8>,
    last: u8,
}

impl Tokenizer {
    pub(crate) fn new() -> Self {
        Self {
            place: Place::Text,
            held: Vec::new(),
            quote: None,
            last: 0,
        }
    }

    /// Takes the next bytes and hands the tokens that are complete to `take`.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(Token) -> io::Result<()>,
    ) -> io::Result<()> {
        while !bytes.is_empty() {
            bytes = match self.place {
                Place::Text => self.text(bytes, &mut take)?,
                Place::Tag => self.tag(bytes, &mut take)?,
                Place::Cdata => self.cdata(bytes, &mut take)?,
                Place::Comment => self.comment(bytes),
            };
        }
        Ok(())
    }

    fn text<'b>(
        &mut self,
        bytes: &'b [u8],
        take: &mut impl FnMut(Token) -> io::Result<()>,
    ) -> io::Result<&'b [u8]> {
        let at = bytes.iter().position(|byte| *byte == b'<');
        self.held
            .extend_from_slice(&bytes[..at.unwrap_or(bytes.len())]);
        let Some(at) = at else {
            if self.held.len() > LONGEST_PIECE {
                let whole = whole_part(&self.held);
                let rest = self.held.split_off(whole);
                let piece = std::mem::replace(&mut self.held, rest);
                take(Token::Text(decoded(&piece)))?;
            }
            return Ok(&[]);
        };
        let piece = std::mem::take(&mut self.held);
        if !piece.is_empty() {
            take(Token::Text(decoded(&piece)))?;
        }
        self.place = Place::Tag;
        self.quote = None;
        self.last = 0;
        Ok(&bytes[at + 1..])
    }

    fn tag<'b>(
        &mut self,
        bytes: &'b [u8],
        take: &mut impl FnMut(Token) -> io::Result<()>,
    ) -> io::Result<&'b [u8]> {
        for (at, byte) in bytes.iter().enumerate() {
            match (self.quote, *byte) {
                (None, b'>') => {
                    let tag = std::mem::take(&mut self.held);
                    self.place = Place::Text;
                    self.end_tag(&tag, take)?;
                    return Ok(&bytes[at + 1..]);
                }
                (None, quote @ (b'"' | b'\'')) => self.quote = Some(quote),
                (Some(quote), byte) if byte == quote => self.quote = None,
                _ => {}
            }
            self.last = *byte;
            // The rest of a tag this long is dropped.
            if self.held.len() < LONGEST_TAG {
                self.held.push(*byte);
            }
            match self.held.as_slice() {
                b"!--" => self.place = Place::Comment,
                b"![CDATA[" => self.place = Place::Cdata,
                _ => continue,
            }
            self.held.clear();
            self.quote = None;
            return Ok(&bytes[at + 1..]);
        }
        Ok(&[])
    }

    fn end_tag(
        &self,
        tag: &[u8],
        take: &mut impl FnMut(Token) -> io::Result<()>,
    ) -> io::Result<()> {
        match tag.first() {
            Some(b'?' | b'!') | None => Ok(()),
            Some(b'/') => take(Token::End),
            Some(_) => {
                let (name, attributes) = parsed(&String::from_utf8_lossy(tag));
                take(Token::Start(name, attributes))?;
                match self.last {
                    b'/' => take(Token::End),
                    _ => Ok(()),
                }
            }
        }
    }

    fn cdata<'b>(
        &mut self,
        bytes: &'b [u8],
        take: &mut impl FnMut(Token) -> io::Result<()>,
    ) -> io::Result<&'b [u8]> {
        for (at, byte) in bytes.iter().enumerate() {
            self.held.push(*byte);
            if self.held.ends_with(b"]]>") {
                let piece = std::mem::take(&mut self.held);
                let text = String::from_utf8_lossy(&piece[..piece.len() - 3]).into_owned();
                self.place = Place::Text;
                take(Token::Text(text))?;
                return Ok(&bytes[at + 1..]);
            }
            if self.held.len() > LONGEST_PIECE {
                let rest = self
                    .held
                    .split_off(char_boundary(&self.held, LONGEST_PIECE - 8));
                let piece = std::mem::replace(&mut self.held, rest);
                take(Token::Text(String::from_utf8_lossy(&piece).into_owned()))?;
            }
        }
        Ok(&[])
    }

    fn comment<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        for (at, byte) in bytes.iter().enumerate() {
            self.held.push(*byte);
            if self.held.ends_with(b"-->") {
                self.held.clear();
                self.place = Place::Text;
                return &bytes[at + 1..];
            }
            if self.held.len() > 16 {
                self.held.drain(..8);
            }
        }
        &[]
    }
}

/// The name and the attributes of a start tag, without its brackets.
fn parsed(tag: &str) -> (String, Vec<(String, String)>) {
    let tag = tag.trim_end_matches('/');
    let (name, mut rest) = tag
        .split_once(|c: char| c.is_ascii_whitespace())
        .unwrap_or((tag, ""));
    let mut attributes = Vec::new();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            break;
        };
        let Some((value, after)) = after[1..].split_once(quote) else {
            break;
        };
        attributes.push((name.trim().to_owned(), decoded(value.as_bytes())));
        rest = after;
    }
    (name.to_owned(), attributes)
}

/// The length of the beginning that cuts neither a character nor a reference in two.
fn whole_part(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(LONGEST_REFERENCE);
    let open = bytes[tail..].iter().rposition(|byte| *byte == b'&');
    let end = match open {
        Some(at) if !bytes[tail + at..].contains(&b';') => tail + at,
        _ => bytes.len(),
    };
    char_boundary(bytes, end)
}

/// The start of the last character that may be incomplete before `end`.
fn char_boundary(bytes: &[u8], end: usize) -> usize {
    let mut at = end;
    while at > 0 && at + 4 > end && bytes[at - 1] >= 0x80 {
        at -= 1;
        if bytes[at] >= 0xc0 {
            break;
        }
    }
    if at == 0 { end } else { at }
}

/// The text with the references of XML resolved; others stay as they are.
fn decoded(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest
            .bytes()
            .take(LONGEST_REFERENCE)
            .position(|byte| byte == b';');
        let character = end.and_then(|end| referred(&rest[1..end]));
        match (character, end) {
            (Some(character), Some(end)) => {
                out.push(character);
                rest = &rest[end + 1..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn referred(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

/// A longer text is handed on in pieces.
const LONGEST_PIECE: usize = 32 * 1024;
/// More of a tag is not kept.
const LONGEST_TAG: usize = 128 * 1024;
/// The longest character reference, with its ampersand and semicolon.
const LONGEST_REFERENCE: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a document that arrives in pieces of `size` bytes, with neighbouring texts joined.
    fn tokens(xml: &str, size: usize) -> Vec<Token> {
        let mut tokenizer = Tokenizer::new();
        let mut all = Vec::new();
        for piece in xml.as_bytes().chunks(size) {
            let take = |token| {
                match (all.last_mut(), token) {
                    (Some(Token::Text(text)), Token::Text(more)) => text.push_str(&more),
                    (_, token) => all.push(token),
                }
                Ok(())
            };
            tokenizer.feed(piece, take).unwrap();
        }
        all
    }

    #[test]
    fn pieces_of_any_size_give_the_same_tokens() {
        let xml = "<?xml version=\"1.0\"?><!-- a > b --><a x='1 > 0' y=\"&lt;&#x41;&quot;\">caf\u{e9} &amp; \
                   <b/><![CDATA[<i>]] &amp;]]>&nothing;</a>";
        let start = |name: &str, attributes: &[(&str, &str)]| {
            let attributes = attributes.iter();
            let attributes = attributes.map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
            Token::Start(name.to_owned(), attributes.collect())
        };
        let expected = [
            start("a", &[("x", "1 > 0"), ("y", "<A\"")]),
            Token::Text("caf\u{e9} & ".to_owned()),
            start("b", &[]),
            Token::End,
            Token::Text("<i>]] &amp;&nothing;".to_owned()),
            Token::End,
        ];

        for size in [1, 2, 3, 7, 1000] {
            assert_eq!(tokens(xml, size), expected, "{size}");
        }
    }

    #[test]
    fn long_texts_and_tags_are_held_in_bounded_memory() {
        let text = "\u{e9}&amp;".repeat(100_000);
        let xml = format!(
            "<a long=\"{}\">{text}<![CDATA[{text}]]></a>",
            "x".repeat(1_000_000)
        );
        let mut tokenizer = Tokenizer::new();
        let (mut length, mut most) = (0, 0);
        for piece in xml.as_bytes().chunks(1000) {
            tokenizer
                .feed(piece, |token| {
                    if let Token::Text(text) = token {
                        assert!(!text.contains('\u{fffd}'));
                        length += text.chars().count();
                    }
                    Ok(())
                })
                .unwrap();
            most = most.max(tokenizer.held.len());
        }

        assert_eq!(length, 100_000 * 2 + 100_000 * 6);
        assert!(most <= LONGEST_TAG, "{most}");
    }
}
