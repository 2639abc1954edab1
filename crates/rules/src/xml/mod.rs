//! Reads records as documents: strictly, within limits, and without anything from outside.
//!
//! A document type declaration is refused, so there are no entities but the five of XML itself.

mod limits;
mod place;
pub(crate) mod rule_file;

use roxmltree::{Document, ParsingOptions};

pub use self::limits::Limits;
pub use self::place::{LoadError, Malformed};
pub(crate) use self::place::{complaint, complaint_inside, load};

/// Reads a document that is well-formed, with all namespaces bound, in UTF-8.
pub fn parse<'a>(xml: &'a [u8], limits: &Limits) -> Result<Document<'a>, Malformed> {
    let text = utf8(xml)?;
    limits.check(text)?;
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: limits.nodes,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|error| Malformed::from_parser(text, error))
}

/// The characters that an entity of HTML stands for, by its name without `&` and `;`.
pub fn html_entity(name: &str) -> Option<&'static str> {
    let characters = htmlize::ENTITIES.get(format!("&{name};").as_bytes())?;
    std::str::from_utf8(characters).ok()
}

fn utf8(xml: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(xml).map_err(|error| {
        let good = std::str::from_utf8(&xml[..error.valid_up_to()]).unwrap_or_default();
        Malformed::at(good, good.len(), "a byte that is not UTF-8")
    })
}
