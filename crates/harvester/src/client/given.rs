//! The records that a page has given, in case it has to be read once more.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::buffers::Buffer;
use crate::keys::Keys;
use crate::read::PageItem;

/// Remembers the things on a page. Hardly any page is read twice: so names are only put down as they are, and become keys
/// when something is looked up, or when they are many.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// One name behind the other, each with an end.
    names: Buffer,
    keys: Keys,
    random: RandomState,
}

impl Given {
    pub(super) fn new(names: Buffer) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    /// Notes something that is given for the first time, as far as anybody asks.
    pub(super) fn note(&mut self, found: &PageItem) {
        if !put_down(found, &mut self.names) {
            return;
        }
        self.names.push(END);
        if self.names.len() > MOST_BYTES {
            self.make_keys();
        }
    }

    /// Notes something; whether it is new. What has no name always is.
    pub(super) fn insert(&mut self, found: &PageItem) -> bool {
        self.make_keys();
        let mut name = String::new();
        !put_down(found, &mut name) || self.keys.insert(self.random.hash_one(name))
    }

    fn make_keys(&mut self) {
        for name in self.names.split_terminator(END) {
            self.keys.insert(self.random.hash_one(name));
        }
        self.names.clear();
    }
}

/// Appends what something is known by: a record by identifier and datestamp. `false` if there is nothing.
fn put_down(found: &PageItem, names: &mut String) -> bool {
    let header = match found {
        PageItem::Record(record) => &record.header,
        PageItem::Header(header) => header,
        PageItem::Set(set) => {
            names.push_str(&set.set_spec);
            return true;
        }
        PageItem::LeftOut(left_out) => {
            names.push_str(left_out.identifier.as_deref().unwrap_or_default());
            return left_out.identifier.is_some();
        }
        PageItem::MetadataFormat(_) | PageItem::Void => return false,
    };
    names.push_str(&header.identifier);
    names.push(SEPARATOR);
    names.push_str(&header.datestamp);
    true
}

/// Bytes that no text of XML holds.
const SEPARATOR: char = '\u{1}';
const END: char = '\0';
/// As many bytes of names are kept as they are; of a usual page that is all of them.
const MOST_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Header;

    fn header(identifier: String, datestamp: &str) -> PageItem {
        PageItem::Header(Header {
            identifier,
            datestamp: datestamp.to_owned(),
            ..Header::default()
        })
    }

    #[test]
    fn what_was_given_is_known_and_nothing_else() {
        let mut given = Given::default();
        let long = "x".repeat(1000);
        let name = |number: usize| format!("a:{number}{long}");

        // More than is kept as it is.
        for number in 0..2 * MOST_BYTES / 1000 {
            given.note(&header(name(number), "2020-01-01"));
        }

        for number in [0, 1, MOST_BYTES / 1000, 2 * MOST_BYTES / 1000 - 1] {
            assert!(!given.insert(&header(name(number), "2020-01-01")));
            assert!(given.insert(&header(name(number), "2020-01-02")));
            assert!(!given.insert(&header(name(number), "2020-01-02")));
        }
        assert!(given.insert(&header(String::new(), "")));
    }
}
