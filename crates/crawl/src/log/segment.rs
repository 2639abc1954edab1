//! A name in the path of a mirrored file: how it is made, cut off and numbered.

use std::borrow::Cow;

/// A name in a path, which may have been given a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    main: Vec<u8>,
    query: Vec<u8>,
    /// With its dot.
    suffix: Vec<u8>,
    longest: usize,
    /// Whether the writer gives it a number where something else has its name.
    pub(super) can_clash: bool,
}

impl Segment {
    /// A name that is as it is.
    pub(super) fn exact(name: &[u8]) -> Self {
        Self {
            main: name.to_vec(),
            query: Vec::new(),
            suffix: Vec::new(),
            longest: LONGEST,
            can_clash: false,
        }
    }

    /// The name of a directory.
    pub(super) fn directory(name: &[u8]) -> Self {
        let name = without_dot(name);
        Self {
            can_clash: true,
            ..Self::exact(cut(&name, LONGEST))
        }
    }

    /// The name of a file, with the query of its URL.
    pub(super) fn end(name: &[u8], query: &[u8]) -> Self {
        // One less than a directory: the writer adds an "N" while it writes.
        let longest = LONGEST - 1;
        let dot = name.iter().rposition(|byte| *byte == b'.');
        let dot = dot.filter(|dot| *dot > 0 && *dot < name.len() - 1);
        let (main, suffix) = name.split_at(dot.unwrap_or(name.len()));
        let suffix = match suffix {
            [dot, suffix @ ..] => [&[*dot], cut(suffix, longest)].concat(),
            [] => Vec::new(),
        };
        Self {
            main: cut(&without_dot(main), longest).to_vec(),
            query: cut(query, longest).to_vec(),
            suffix,
            longest,
            can_clash: true,
        }
    }

    /// The name, with the number that it got where something else had it. What is too long is cut off at its query, then at
    /// its main part, then at its suffix.
    pub(super) fn name(&self, number: Option<u32>) -> Vec<u8> {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        if self.main.len() + self.query.len() + self.suffix.len() + number.len() <= self.longest {
            return [&self.main, number.as_bytes(), &self.query, &self.suffix].concat();
        }
        let (mut main, mut query, mut suffix) = (&self.main[..], &self.query[..], &self.suffix[..]);
        let excess = |main: &[u8], query: &[u8], suffix: &[u8]| {
            let length = units(main) + units(query) + units(suffix) + number.len();
            length.saturating_sub(self.longest)
        };
        query = cut(
            query,
            units(query).saturating_sub(excess(main, query, suffix)),
        );
        main = cut(
            main,
            units(main)
                .saturating_sub(excess(main, query, suffix))
                .max(1),
        );
        suffix = cut(
            suffix,
            units(suffix).saturating_sub(excess(main, query, suffix)),
        );
        [main, number.as_bytes(), query, suffix].concat()
    }

    /// Its length without what stands behind its main part.
    pub(super) fn length(&self) -> usize {
        self.main.len()
    }

    /// Whether it is the name of something in the directory, and of nothing elsewhere.
    pub(super) fn is_harmless(&self) -> bool {
        let parts = [&self.main[..], &self.query, &self.suffix];
        let leads_elsewhere = matches!(parts, [b"" | b"." | b"..", b"", b""]);
        let is_broken = |part: &[u8]| part.iter().any(|byte| matches!(byte, b'/' | 0));
        !leads_elsewhere && !parts.into_iter().any(is_broken)
    }
}

fn without_dot(name: &[u8]) -> Cow<'_, [u8]> {
    match name {
        [b'.', rest @ ..] => Cow::Owned([b"%2E", rest].concat()),
        name => Cow::Borrowed(name),
    }
}

/// As much of a name as fits. An escape, as a character, is kept whole or not at all.
fn cut(name: &[u8], longest: usize) -> &[u8] {
    if name.len() <= longest {
        return name;
    }
    let (mut at, mut length) = (0, 0);
    while at < name.len() {
        let lump = lump(&name[at..]);
        length += units(&name[at..at + lump]);
        if length > longest {
            break;
        }
        at += lump;
    }
    &name[..at]
}

/// The number of bytes of an escape or a character.
fn lump(bytes: &[u8]) -> usize {
    let is_escape = matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
    if is_escape {
        return 3;
    }
    let longest = bytes.len().min(4);
    let character = (1..=longest).find(|length| std::str::from_utf8(&bytes[..*length]).is_ok());
    character.unwrap_or(1)
}

/// The length of a name as Java counts it.
fn units(name: &[u8]) -> usize {
    match name.is_ascii() {
        true => name.len(),
        false => String::from_utf8_lossy(name).encode_utf16().count(),
    }
}

/// The longest name that file systems allow.
const LONGEST: usize = 255;
