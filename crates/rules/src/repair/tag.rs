//! One tag, read tolerantly.

use crate::xpath::{is_name_char, is_name_start};

/// A start tag.
#[derive(Debug)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) attributes: Vec<Attribute<'a>>,
    pub(super) empty: bool,
    pub(super) length: usize,
}

#[derive(Debug)]
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    pub(super) quote: Option<char>,
}

impl<'a> Tag<'a> {
    /// The start tag at the beginning of the text, if there is one: `<`, a name, attributes, `>`.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let name = name(text.strip_prefix('<')?)?;
        let mut rest = &text[1 + name.len()..];
        let mut attributes = Vec::new();
        let empty = loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix("/>") {
                rest = after;
                break true;
            }
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                break false;
            }
            if attributes.len() == MAXIMUM_ATTRIBUTES {
                return None;
            }
            let (attribute, after) = attribute(rest)?;
            attributes.push(attribute);
            rest = after;
        };
        Some(Self {
            name,
            attributes,
            empty,
            length: text.len() - rest.len(),
        })
    }
}

/// The end tag at the beginning of the text: its name and its length.
pub(super) fn end_tag(text: &str) -> Option<(&str, usize)> {
    let name = name(text.strip_prefix("</")?)?;
    let rest = text[2 + name.len()..].trim_start().strip_prefix('>')?;
    Some((name, text.len() - rest.len()))
}

fn attribute(text: &str) -> Option<(Attribute<'_>, &str)> {
    let name = name(text)?;
    let rest = text[name.len()..].trim_start();
    let Some(value) = rest.strip_prefix('=').map(str::trim_start) else {
        let attribute = Attribute {
            name,
            value: name,
            quote: None,
        };
        return Some((attribute, rest));
    };
    let (value, quote, rest) = match value.chars().next()? {
        quote @ ('"' | '\'') => {
            let (inner, rest) = value[1..].split_once(quote)?;
            (inner, Some(quote), rest)
        }
        _ => {
            let end = value.find(|c: char| c.is_ascii_whitespace() || c == '>')?;
            // A slash before the end belongs to the tag.
            let end = match value[end..].starts_with('>') && value[..end].ends_with('/') {
                true => end - 1,
                false => end,
            };
            (&value[..end], None, &value[end..])
        }
    };
    Some((Attribute { name, value, quote }, rest))
}

fn name(text: &str) -> Option<&str> {
    let end = text
        .find(|c| !is_name_char(c) && c != ':')
        .unwrap_or(text.len());
    text.starts_with(is_name_start).then(|| &text[..end])
}

const MAXIMUM_ATTRIBUTES: usize = 1000;
