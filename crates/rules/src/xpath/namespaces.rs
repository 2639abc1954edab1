//! The prefixes of an expression, declared as the `selectionNamespaces` property of MSXML is written.

use std::collections::BTreeMap;

use super::Error;
use super::lexer::{is_name_char, is_name_start};

/// Which prefix stands for which namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespaces(BTreeMap<String, String>);

impl Namespaces {
    /// Reads declarations separated by spaces: `xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:o="urn:o"`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut namespaces = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let (prefix, uri, after) =
                declaration(rest).map_err(|reason| Error::new(at, reason))?;
            if prefix == "xml" || prefix == "xmlns" {
                return Err(Error::new(at, format!("the prefix `{prefix}` is reserved")));
            }
            if namespaces.0.insert(prefix.into(), uri.into()).is_some() {
                return Err(Error::new(
                    at,
                    format!("the prefix `{prefix}` is declared twice"),
                ));
            }
            rest = after.trim_start();
        }
        Ok(namespaces)
    }

    /// The namespace of a prefix.
    pub fn get(&self, prefix: &str) -> Option<&str> {
        self.0.get(prefix).map(String::as_str)
    }
}

/// `xml` is always declared.
impl Default for Namespaces {
    fn default() -> Self {
        let xml = "http://www.w3.org/XML/1998/namespace";
        Self(BTreeMap::from([("xml".to_owned(), xml.to_owned())]))
    }
}

fn declaration(text: &str) -> Result<(&str, &str, &str), String> {
    let Some(rest) = text.strip_prefix("xmlns") else {
        return Err(
            "a declaration like xmlns:dc='http://purl.org/dc/elements/1.1/' is expected".into(),
        );
    };
    // A name without a prefix is in no namespace in XPath 1.0, whatever is declared here.
    let Some(rest) = rest.strip_prefix(':') else {
        return Err("a namespace needs a prefix here, as in xmlns:dc='…'".into());
    };
    let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
    let (prefix, rest) = rest.split_at(end);
    if !prefix.starts_with(is_name_start) {
        return Err("xmlns: must be followed by a prefix".into());
    }
    let value = rest.trim_start().strip_prefix('=').map(str::trim_start);
    let Some((quote, value)) = value.and_then(|value| {
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        Some((quote, &value[1..]))
    }) else {
        return Err(format!(
            "`{prefix}` must be followed by = and a quoted namespace"
        ));
    };
    let Some((uri, rest)) = value.split_once(quote) else {
        return Err(format!(
            "the namespace of `{prefix}` has no closing quotation mark"
        ));
    };
    if uri.is_empty() {
        return Err(format!("the namespace of `{prefix}` is empty"));
    }
    Ok((prefix, uri, rest))
}
