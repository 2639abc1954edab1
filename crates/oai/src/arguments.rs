//! The arguments of a request as they came in: decoded once, in order, repeats kept.
//! `request` interprets them.

use percent_encoding::percent_decode_str;

use crate::xml;

/// The decoded arguments of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    pairs: Vec<(String, String)>,
    unspeakable: bool,
}

impl Arguments {
    /// Parses a query string or an `application/x-www-form-urlencoded` body.
    ///
    /// Broken percent escapes stay as they are. Bytes that are not UTF-8, and characters that XML 1.0
    /// cannot carry, are remembered: such a request cannot be echoed in an answer.
    ///
    /// ```
    /// let arguments = oai::Arguments::parse("verb=GetRecord&identifier=http%3A%2F%2Fa%2Eb%2F+c");
    /// assert_eq!(arguments.get("identifier"), Some("http://a.b/ c"));
    /// ```
    pub fn parse(query: &str) -> Self {
        let mut arguments = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = arguments.decode(name);
            let value = arguments.decode(value);
            arguments.pairs.push((name, value));
        }
        arguments
    }

    /// Appends the arguments of another part of the same request.
    pub fn extend(&mut self, other: Arguments) {
        self.pairs.extend(other.pairs);
        self.unspeakable |= other.unspeakable;
    }

    /// The first value under a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let pair = self.iter().find(|(candidate, _)| *candidate == name);
        pair.map(|(_, value)| value)
    }

    /// Every value under a name.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.iter()
            .filter(move |(n, _)| *n == name)
            .map(|(_, value)| value)
    }

    /// All names and values in the order they came.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }

    /// Whether a name or value holds something that no XML answer can repeat.
    pub fn unspeakable(&self) -> bool {
        self.unspeakable
    }

    fn decode(&mut self, encoded: &str) -> String {
        let bytes = percent_decode_str(&encoded.replace('+', " ")).collect();
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            self.unspeakable = true;
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        self.unspeakable |= !text.chars().all(xml::is_legal);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_every_character_once() {
        let arguments = Arguments::parse("verb=%49dentify&identifier=a%252Eb+c");

        assert_eq!(arguments.get("verb"), Some("Identify"));
        assert_eq!(arguments.get("identifier"), Some("a%2Eb c"));
    }

    #[test]
    fn keeps_broken_escapes_and_repeats() {
        let arguments = Arguments::parse("a=%zz&a=%4&&b");

        let values: Vec<_> = arguments.values("a").collect();
        assert_eq!(values, ["%zz", "%4"]);
        assert_eq!(arguments.get("b"), Some(""));
        assert!(!arguments.unspeakable());
    }

    #[test]
    fn remembers_what_xml_cannot_repeat() {
        for query in ["set=%FF", "set=%00", "set=%EF%BF%BF", "%01=x"] {
            assert!(Arguments::parse(query).unspeakable(), "{query}");
        }
    }
}
