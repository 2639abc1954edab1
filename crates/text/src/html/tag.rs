//! Tags: where they end, and what they do to the text.

/// A tag, comment or declaration.
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) is_end: bool,
    pub(super) kind: Kind,
    /// How many bytes it takes up.
    pub(super) length: usize,
}

/// The effect of a tag on the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Inline,
    /// Begins a line.
    Block,
    /// Has a blank line before it.
    Paragraph,
    /// Is set apart by a space.
    Cell,
    Preformatted,
    /// Its content is not seen.
    Hidden,
}

/// Whose tags they are: the same name means different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Html,
    /// Office Open XML and OpenDocument, whose names do not collide.
    Office,
}

/// Finds the ends of tags.
#[derive(Debug)]
pub(super) struct Scanner {
    dialect: Dialect,
    /// A quotation mark was never closed. Looking for it again at each tag would take for ever.
    quotes_are_broken: bool,
}

impl Scanner {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            quotes_are_broken: false,
        }
    }

    /// The tag that text beginning with `<` begins with; `None` if that is a character like any other.
    pub(super) fn tag<'a>(&mut self, text: &'a str) -> Option<Tag<'a>> {
        let inner = text.get(1..)?;
        if let Some(comment) = inner.strip_prefix("!--") {
            return Some(skipped(4, comment, "-->"));
        }
        if inner.starts_with("![CDATA[") {
            // The content is text; its end is taken off where it stands.
            return Some(Tag::inline("", 9));
        }
        let is_end = inner.starts_with('/');
        let named = &inner[usize::from(is_end)..];
        let first = named.bytes().next()?;
        let is_declaration = !is_end && matches!(first, b'!' | b'?');
        if !first.is_ascii_alphabetic() && !is_declaration {
            return None;
        }
        let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
        let name = &named[..named.bytes().position(ends).unwrap_or(named.len())];
        let length = self.end(text).unwrap_or(text.len());
        Some(Tag {
            // A prefix, as in XHTML, says nothing.
            kind: self.kind_of(name.rsplit(':').next().unwrap_or(name)),
            name,
            is_end,
            length,
        })
    }

    fn kind_of(&self, name: &str) -> Kind {
        let mut lower = [0; LONGEST];
        let Some(lower) = lower.get_mut(..name.len()) else {
            return Kind::Inline;
        };
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        match self.dialect {
            Dialect::Html => html(lower),
            Dialect::Office => office(lower),
        }
    }

    /// Behind the `>` that ends a tag: not one in a quoted value, unless quotation marks are in disorder.
    fn end(&mut self, text: &str) -> Option<usize> {
        if !self.quotes_are_broken {
            let mut quote = None;
            for (at, byte) in text.bytes().enumerate() {
                match (quote, byte) {
                    (None, b'>') => return Some(at + 1),
                    (None, b'"' | b'\'') => quote = Some(byte),
                    (Some(open), byte) if open == byte => quote = None,
                    _ => {}
                }
            }
            self.quotes_are_broken = true;
        }
        text.find('>').map(|at| at + 1)
    }
}

impl<'a> Tag<'a> {
    fn inline(name: &'a str, length: usize) -> Self {
        Self {
            name,
            is_end: false,
            kind: Kind::Inline,
            length,
        }
    }
}

/// The elements left out up to a mark, or to the end.
fn skipped<'a>(before: usize, text: &'a str, end: &str) -> Tag<'a> {
    let length = text.find(end).map_or(text.len(), |at| at + end.len());
    Tag::inline("", before + length)
}

fn html(lower: &[u8]) -> Kind {
    match lower {
        b"script" | b"style" | b"noscript" | b"template" => Kind::Hidden,
        b"pre" | b"listing" | b"xmp" => Kind::Preformatted,
        b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"title" | b"blockquote"
        | b"section" | b"article" => Kind::Paragraph,
        b"td" | b"th" => Kind::Cell,
        b"br" | b"div" | b"li" | b"ul" | b"ol" | b"dl" | b"dt" | b"dd" | b"tr" | b"table"
        | b"caption" | b"hr" | b"body" | b"header" | b"footer" | b"main" | b"nav" | b"aside"
        | b"figure" | b"figcaption" | b"form" | b"fieldset" | b"option" | b"select"
        | b"address" | b"center" | b"summary" | b"details" => Kind::Block,
        _ => Kind::Inline,
    }
}

fn office(lower: &[u8]) -> Kind {
    match lower {
        // Field codes, deleted text, comments.
        b"instrtext" | b"deltext" | b"annotation" | b"tracked-changes" => Kind::Hidden,
        b"p" | b"h" => Kind::Paragraph,
        b"si" | b"br" | b"cr" | b"line-break" => Kind::Block,
        b"tab" | b"tc" | b"s" | b"table-cell" => Kind::Cell,
        _ => Kind::Inline,
    }
}

const LONGEST: usize = 16;
