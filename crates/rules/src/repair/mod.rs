//! Repairs what is not well-formed, where it is clear what was meant, and tells what it did.
//!
//! The outcome is parsed strictly before it is given back, so nothing that is broken passes as repaired. What ends in
//! the middle is not repaired: something is missing there, and nobody knows how much.

mod encoding;
mod entities;
mod markup;
mod tag;

use std::collections::BTreeMap;
use std::fmt;

use crate::xml::{self, Limits, Malformed};

/// A kind of repair, and how often it was needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repair {
    /// The repair.
    pub kind: Kind,
    /// How often.
    pub count: usize,
}

/// The possible repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The whole text was in another encoding than UTF-8, by its byte order mark or its declaration.
    Recoded,
    /// A byte that is not UTF-8 was read as Windows-1252, which such bytes nearly always are.
    StrayByte,
    /// A character, or a reference to one, that XML forbids was left out.
    IllegalCharacter,
    /// An ampersand that begins no reference was escaped.
    BareAmpersand,
    /// An entity of HTML, as `&eacute;`, was replaced by its character.
    HtmlEntity,
    /// A sign `<` that begins no tag was escaped, or `]]>` in a text.
    BareAngleBracket,
    /// An element was closed where the one around it ends.
    UnclosedElement,
    /// An end tag of nothing that is open was left out.
    StrayEndTag,
    /// An attribute without quotation marks or without a value got them.
    UnquotedAttribute,
    /// An attribute that is there twice was left out the second time.
    RepeatedAttribute,
    /// A well-known prefix, as `dc`, that was not declared was declared.
    UndeclaredPrefix,
    /// A comment that XML forbids was left out.
    BrokenComment,
    /// A document type declaration was left out.
    DocumentType,
}

/// A text that has become well-formed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The text.
    pub xml: String,
    /// The repairs; empty if it was well-formed.
    pub repairs: Vec<Repair>,
}

/// Makes a text well-formed, or says where it cannot be done. The text may be one record or a whole answer.
pub fn repair(bytes: &[u8], limits: &Limits) -> Result<Repaired, Malformed> {
    if bytes.len() > limits.bytes {
        let reason = format!("longer than {} bytes", limits.bytes);
        return Err(Malformed::at("", 0, reason));
    }
    let mut tally = Tally::default();
    let text = encoding::decode(bytes, &mut tally);
    let xml = markup::mend(&text, limits, &mut tally)?;
    xml::parse(xml.as_bytes(), limits)?;
    Ok(Repaired {
        xml,
        repairs: tally.repairs(),
    })
}

#[derive(Debug, Default)]
struct Tally(BTreeMap<Kind, usize>);

impl Tally {
    fn add(&mut self, kind: Kind) {
        *self.0.entry(kind).or_default() += 1;
    }

    fn repairs(self) -> Vec<Repair> {
        let repairs = self.0.into_iter();
        repairs
            .map(|(kind, count)| Repair { kind, count })
            .collect()
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (one, many, done) = self.kind.words();
        let noun = match self.count {
            1 => one,
            _ => many,
        };
        write!(f, "{} {noun} {done}", self.count)
    }
}

impl Kind {
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Recoded => ("text", "texts", "in another encoding recoded"),
            Self::StrayByte => ("byte", "bytes", "outside of UTF-8 read as Windows-1252"),
            Self::IllegalCharacter => ("illegal character", "illegal characters", "removed"),
            Self::BareAmpersand => ("bare ampersand", "bare ampersands", "escaped"),
            Self::HtmlEntity => ("HTML entity", "HTML entities", "replaced"),
            Self::BareAngleBracket => ("bare angle bracket", "bare angle brackets", "escaped"),
            Self::UnclosedElement => ("unclosed element", "unclosed elements", "closed"),
            Self::StrayEndTag => ("stray end tag", "stray end tags", "removed"),
            Self::UnquotedAttribute => ("unquoted attribute", "unquoted attributes", "quoted"),
            Self::RepeatedAttribute => ("repeated attribute", "repeated attributes", "removed"),
            Self::UndeclaredPrefix => ("undeclared prefix", "undeclared prefixes", "declared"),
            Self::BrokenComment => ("broken comment", "broken comments", "removed"),
            Self::DocumentType => ("document type", "document types", "removed"),
        }
    }
}
