//! The elements that are to be put into the text of a record, each once.

use std::collections::HashSet;

use roxmltree::Node;

use super::{Added, Name};
use crate::xml::rule_file::compared;

#[derive(Default)]
pub(super) struct Plan {
    insertions: Vec<Insertion>,
    /// The children of the parents met so far, those to come included.
    there: HashSet<Signature>,
    parents: HashSet<u32>,
}

struct Insertion {
    at: usize,
    text: String,
    added: Added,
}

#[derive(PartialEq, Eq, Hash)]
struct Signature {
    parent: u32,
    namespace: Option<String>,
    local: String,
    value: String,
}

impl Plan {
    /// Plans a new element behind another one, unless its parent has such an element already. The root has no parent,
    /// and nothing can be behind it.
    pub(super) fn add(&mut self, beside: Node, name: &Name, value: &str, because_of: &str) {
        let Some(parent) = beside.parent_element() else {
            return;
        };
        self.learn(parent);
        let signature = Signature {
            parent: parent.id().get(),
            namespace: name.namespace.clone(),
            local: name.local.clone(),
            value: value.to_owned(),
        };
        if !self.there.insert(signature) {
            return;
        }
        self.insertions.push(Insertion {
            at: beside.range().end,
            text: format!("{}{}", indentation(beside), element(parent, name, value)),
            added: Added {
                because_of: because_of.chars().take(LONGEST_REASON).collect(),
                name: name.written(),
                value: value.to_owned(),
            },
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.insertions.is_empty()
    }

    /// Offset and length of each insertion, by offset.
    pub(super) fn insertions(&mut self) -> Vec<(usize, usize)> {
        self.insertions.sort_by_key(|insertion| insertion.at);
        let each = self.insertions.iter();
        each.map(|insertion| (insertion.at, insertion.text.len()))
            .collect()
    }

    /// The record with the new elements; those at one place keep their order.
    pub(super) fn carry_out(mut self, xml: &[u8]) -> (Vec<u8>, Vec<Added>) {
        self.insertions.sort_by_key(|insertion| insertion.at);
        let mut out = Vec::with_capacity(xml.len() + 64 * self.insertions.len());
        let mut done = 0;
        for insertion in &self.insertions {
            out.extend_from_slice(&xml[done..insertion.at]);
            out.extend_from_slice(insertion.text.as_bytes());
            done = insertion.at;
        }
        out.extend_from_slice(&xml[done..]);
        let added = self.insertions.into_iter().map(|new| new.added).collect();
        (out, added)
    }

    /// Notes the children of a parent that is met for the first time.
    fn learn(&mut self, parent: Node) {
        let id = parent.id().get();
        if !self.parents.insert(id) {
            return;
        }
        for child in parent.children().filter(Node::is_element) {
            let texts = child.descendants().filter(Node::is_text);
            let text: String = texts.filter_map(|text| text.text()).collect();
            let namespace = child.tag_name().namespace().filter(|uri| !uri.is_empty());
            self.there.insert(Signature {
                parent: id,
                namespace: namespace.map(str::to_owned),
                local: child.tag_name().name().to_owned(),
                value: compared(&text).to_owned(),
            });
        }
    }
}

/// The line break and the spaces before the element, so that the new one stands on a line of its own as well.
fn indentation(beside: Node) -> String {
    let before = beside.prev_sibling().filter(Node::is_text);
    let space = before.and_then(|text| text.text()).unwrap_or_default();
    match space.trim().is_empty() {
        true => space.rfind('\n').map_or("", |at| &space[at..]).to_owned(),
        false => String::new(),
    }
}

/// The element, with the prefix that its namespace has at this place, or with a declaration if it has none.
fn element(parent: Node, name: &Name, value: &str) -> String {
    let in_scope = |prefix: Option<&str>| {
        let uri = parent.lookup_namespace_uri(prefix);
        uri.filter(|uri| !uri.is_empty())
    };
    let wanted = name.namespace.as_deref();
    let prefix = name.prefix.as_deref();
    let (qualified, declaration) = if in_scope(prefix) == wanted {
        (name.written(), String::new())
    } else {
        match (prefix, wanted) {
            (Some(prefix), Some(uri)) => {
                let declaration = format!(" xmlns:{prefix}=\"{}\"", escaped(uri));
                (name.written(), declaration)
            }
            _ => (name.written(), " xmlns=\"\"".to_owned()),
        }
    };
    format!("<{qualified}{declaration}>{}</{qualified}>", escaped(value))
}

impl Name {
    fn written(&self) -> String {
        match &self.prefix {
            Some(prefix) => format!("{prefix}:{}", self.local),
            None => self.local.clone(),
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

const LONGEST_REASON: usize = 80;
