//! The short names of metadata formats.

use std::fmt;

use crate::set_spec::is_unreserved;

/// A syntactically legal metadataPrefix.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetadataPrefix(String);

impl MetadataPrefix {
    /// Parses a prefix: one or more unreserved characters (RFC 2396), no colon.
    pub fn parse(text: &str) -> Option<Self> {
        let legal = !text.is_empty() && text.bytes().all(is_unreserved);
        legal.then(|| Self(text.to_owned()))
    }

    /// The prefix as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MetadataPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
