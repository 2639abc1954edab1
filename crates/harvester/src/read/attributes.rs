//! The attributes of a start tag, checked without allocating for each.

use std::ops::Range;

/// Where names and values are within a tag.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    found: Vec<(Range<usize>, Range<usize>)>,
}

impl Attributes {
    /// Parses the part of a tag behind its name; the reason if it is not well-formed.
    pub(super) fn parse(&mut self, raw: &str) -> Result<(), &'static str> {
        self.found.clear();
        let bytes = raw.as_bytes();
        let mut at = 0;
        loop {
            let gap = blank(&bytes[at..]);
            at += gap;
            if at == bytes.len() {
                return Ok(());
            }
            if gap == 0 {
                return Err("attributes are not separated");
            }
            let name = at..at + name_length(&bytes[at..]);
            if !is_name(&bytes[name.clone()]) {
                return Err("an attribute has an illegal name");
            }
            at = name.end + blank(&bytes[name.end..]);
            if bytes.get(at) != Some(&b'=') {
                return Err("an attribute has no value");
            }
            at += 1;
            at += blank(&bytes[at..]);
            let quote = match bytes.get(at) {
                Some(quote @ (b'"' | b'\'')) => *quote,
                _ => return Err("the value of an attribute is not quoted"),
            };
            let Some(length) = memchr::memchr(quote, &bytes[at + 1..]) else {
                return Err("the value of an attribute does not end");
            };
            let value = at + 1..at + 1 + length;
            at = value.end + 1;
            if self.names(raw).any(|other| other == &raw[name.clone()]) {
                return Err("an attribute stands twice in a tag");
            }
            if self.found.len() == MOST {
                return Err("a tag has too many attributes");
            }
            self.found.push((name, value));
        }
    }

    /// Names and raw values.
    pub(super) fn iter<'a>(&'a self, raw: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.found
            .iter()
            .map(move |(name, value)| (&raw[name.clone()], &raw[value.clone()]))
    }

    fn names<'a>(&'a self, raw: &'a str) -> impl Iterator<Item = &'a str> {
        self.found.iter().map(move |(name, _)| &raw[name.clone()])
    }
}

/// Whether bytes of valid UTF-8 can be a name. Beyond ASCII all characters pass.
pub(super) fn is_name(name: &[u8]) -> bool {
    let Some((first, rest)) = name.split_first() else {
        return false;
    };
    let starts = first.is_ascii_alphabetic() || *first == b'_' || *first >= 0x80;
    let mut colons = 0;
    let legal = rest.iter().all(|byte| {
        colons += u32::from(*byte == b':');
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':') || *byte >= 0x80
    });
    starts && legal && colons <= 1 && name.last() != Some(&b':')
}

fn name_length(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'=')
        .count()
}

fn blank(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

const MOST: usize = 256;
