//! The cost that a document may have. Checked before it is parsed, in one pass over its tags; and on the way what the parser
//! does not check.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::Malformed;

/// The limits within which a record is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long a document may be.
    pub bytes: usize,
    /// How deep its elements may be nested.
    pub depth: usize,
    /// How many nodes it may have.
    pub nodes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            depth: 256,
            nodes: 2_000_000,
        }
    }
}

impl Limits {
    pub(super) fn check(&self, text: &str) -> Result<(), Malformed> {
        if text.len() > self.bytes {
            let reason = format!("longer than {} bytes", self.bytes);
            return Err(Malformed::at("", 0, reason));
        }
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        let mut tally = Tally::default();
        loop {
            let at = position(&reader);
            match reader.read_event() {
                Ok(Event::Start(tag)) => {
                    tally.depth += 1;
                    tally.count(&tag);
                }
                Ok(Event::Empty(tag)) => tally.count(&tag),
                Ok(Event::End(_)) => tally.depth = tally.depth.saturating_sub(1),
                Ok(Event::Eof) => return Ok(()),
                Err(error) => return Err(Malformed::at(text, at, error.to_string())),
                Ok(_) => {}
            }
            if let Some(reason) = tally.excess(self) {
                return Err(Malformed::at(text, at, reason));
            }
        }
    }
}

#[derive(Default)]
struct Tally {
    depth: usize,
    declarations: usize,
    attributes: usize,
    odd_prefix: bool,
}

impl Tally {
    fn count(&mut self, tag: &BytesStart) {
        let bytes = tag.as_ref() as &str;
        let bytes = bytes.as_bytes();
        // Each attribute has an equals sign; the values may have more, so that only many are looked at again.
        self.attributes = bytes.iter().filter(|b| **b == b'=').count();
        if self.attributes > MAXIMUM_ATTRIBUTES {
            let mut attributes = tag.attributes();
            self.attributes = attributes
                .with_checks(false)
                .take(MAXIMUM_ATTRIBUTES + 1)
                .count();
        }
        let declarations = bytes.windows(5).filter(|window| window == b"xmlns").count();
        self.declarations += declarations;
        self.odd_prefix |= declarations > 0 && declares_odd_prefix(tag);
    }

    fn excess(&self, limits: &Limits) -> Option<String> {
        if self.depth > limits.depth {
            return Some(format!(
                "elements are nested more than {} deep",
                limits.depth
            ));
        }
        if self.declarations > MAXIMUM_DECLARATIONS {
            return Some("too many namespace declarations".into());
        }
        if self.attributes > MAXIMUM_ATTRIBUTES {
            return Some("too many attributes on one element".into());
        }
        if self.odd_prefix {
            return Some("a prefix is bound that must not be, or to no namespace".into());
        }
        None
    }
}

/// Namespaces 1.0, 3 and 5: a prefix is not bound to nothing, and `xmlns` is not bound. The parser lets both pass.
fn declares_odd_prefix(tag: &BytesStart) -> bool {
    let mut attributes = tag.attributes();
    let mut found = attributes.with_checks(false).flatten();
    found.any(|attribute| {
        let key = attribute.key.as_ref() as &str;
        key == "xmlns:xmlns" || (key.starts_with("xmlns:") && attribute.value.is_empty())
    })
}

fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}

/// The parser compares the attributes of an element with each other, and an element that declares a namespace gets a
/// list of its own of all in scope: both grow with the square.
const MAXIMUM_ATTRIBUTES: usize = 1000;
const MAXIMUM_DECLARATIONS: usize = 4000;
