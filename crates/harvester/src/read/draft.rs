//! A record while it is read: its bytes, its header, and what is wrong with it.

use std::ops::Range;

use crate::Quirk;
use crate::record::Header;
use crate::unpack::SpooledValue;

use super::attributes::{Attributes, is_name};
use super::namespaces::{Namespaces, prefix};
use super::plain::{Seam, Usual};

/// The record that is being read. It is used again for the next one.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) name: String,
    /// The attributes of the record element as written.
    pub(super) attributes: String,
    /// Whether nothing in the tag of the record element has to be looked at: it is a name without a prefix.
    pub(super) is_plain: bool,
    /// The bytes between the tags of the record element.
    pub(super) body: Vec<u8>,
    /// Large values that were taken out of it, by their offsets in the body. Nothing before them has to be mended, or they
    /// would not have been reached.
    pub(super) values: Vec<SpooledValue>,
    /// The record with its tags and the offset of its body, if it was read at one go.
    pub(super) whole: Option<(Vec<u8>, usize)>,
    pub(super) header: Header,
    /// Strings of headers that were given back, for setSpecs.
    spare: Vec<String>,
    pub(super) field: Option<Field>,
    pub(super) field_text: String,
    pub(super) namespaces: Namespaces,
    pub(super) tag: Attributes,
    /// For records that are read at one go: the last tag, what stood behind the last record, and the names of open
    /// elements.
    pub(super) usual: Usual,
    pub(super) seam: Seam,
    pub(super) open: Vec<Range<usize>>,
    /// Why the record cannot be used.
    pub(super) fault: Option<String>,
    pub(super) repairs: Vec<Quirk>,
    /// Well-known prefixes to declare.
    pub(super) undeclared: Vec<(&'static str, &'static str)>,
}

/// An element of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Identifier,
    Datestamp,
    SetSpec,
}

impl Draft {
    pub(super) fn begin(&mut self, name: &str, attributes: &str) {
        self.name.clear();
        self.name.push_str(name);
        self.attributes.clear();
        self.attributes.push_str(attributes);
        self.is_plain = attributes.is_empty() && prefix(name).is_none() && is_name(name.as_bytes());
        self.seam.clear();
        self.begin_again();
    }

    /// Begins a record that has the tag of the one before it.
    pub(super) fn begin_again(&mut self) {
        self.body.clear();
        self.whole = None;
        self.values.clear();
        self.clear_header();
        self.field = None;
        self.namespaces.clear();
        self.fault = None;
        self.repairs.clear();
        self.undeclared.clear();
    }

    /// Forgets all but the start tag, at this depth, of a record in which nothing is wrong so far.
    pub(super) fn forget(&mut self, depth: usize) {
        self.clear_header();
        self.field = None;
        self.namespaces.leave(depth);
    }

    /// Takes a header back that was given, for the memory it has.
    pub(super) fn reuse(&mut self, header: Header) {
        self.header = header;
        self.clear_header();
    }

    fn clear_header(&mut self) {
        let Header {
            identifier,
            datestamp,
            set_specs,
            deleted,
        } = &mut self.header;
        identifier.clear();
        datestamp.clear();
        self.spare.append(set_specs);
        *deleted = false;
    }

    /// Notes what is wrong; the first reason counts. The bytes are of no use any longer.
    pub(super) fn fail(&mut self, reason: impl Into<String>) {
        if self.fault.is_none() {
            self.fault = Some(reason.into());
            self.body = Vec::new();
        }
    }

    pub(super) fn repaired(&mut self, quirk: Quirk) {
        if !self.repairs.contains(&quirk) {
            self.repairs.push(quirk);
        }
    }

    pub(super) fn write(&mut self, parts: &[&str], limit: usize) {
        if self.fault.is_some() {
            return;
        }
        for part in parts {
            self.body.extend_from_slice(part.as_bytes());
        }
        if self.body.len() > limit {
            self.fail(format!("it is longer than {limit} bytes"));
        }
    }

    /// Reads the attributes of the header.
    pub(super) fn status(&mut self, raw: &str) {
        if raw.is_empty() {
            return;
        }
        if self.tag.parse(raw).is_err() {
            return;
        }
        let status = self.tag.iter(raw).find(|(name, _)| *name == "status");
        self.header.deleted = status.is_some_and(|(_, value)| value.trim() == "deleted");
    }

    /// Begins an element of the header.
    pub(super) fn begin_field(&mut self, name: &[u8]) {
        self.field = match name {
            b"identifier" => Some(Field::Identifier),
            b"datestamp" => Some(Field::Datestamp),
            b"setSpec" => Some(Field::SetSpec),
            _ => None,
        };
        self.field_text.clear();
    }

    pub(super) fn end_field(&mut self) {
        if let Some(field) = self.field.take() {
            let text = std::mem::take(&mut self.field_text);
            self.set_field(field, &text);
            self.field_text = text;
        }
    }

    /// Takes an element of the header; the first of its kind counts, but for sets.
    pub(super) fn set_field(&mut self, field: Field, text: &str) {
        if text.len() > LONGEST_FIELD {
            return;
        }
        let text = text.trim_ascii();
        let header = &mut self.header;
        match field {
            Field::Identifier if header.identifier.is_empty() => header.identifier.push_str(text),
            Field::Datestamp if header.datestamp.is_empty() => header.datestamp.push_str(text),
            Field::SetSpec if !text.is_empty() && header.set_specs.len() < MOST_SETS => {
                let mut set_spec = self.spare.pop().unwrap_or_default();
                text.clone_into(&mut set_spec);
                header.set_specs.push(set_spec);
            }
            _ => {}
        }
    }

    pub(super) fn field_text(&mut self, text: &str) {
        if self.field.is_some() && self.field_text.len() + text.len() <= LONGEST_FIELD {
            self.field_text.push_str(text);
        }
    }
}

const MOST_SETS: usize = 10_000;
const LONGEST_FIELD: usize = 64 * 1024;
