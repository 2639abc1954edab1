//! Records taken from answers.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};
use test_support::{Answer, from_base64};

/// The facts of one record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// The fields of `http_header`, also of the one within `oai_didl`.
    pub(crate) fields: Vec<(String, String)>,
    /// The bytes by value.
    pub(crate) by_value: Option<Vec<u8>>,
    /// The reference.
    pub(crate) reference: Option<String>,
    /// All `dc:format` values.
    pub(crate) formats: Vec<String>,
    /// Whether it is a tombstone.
    pub(crate) deleted: bool,
}

/// The records of an answer by identifier, in any format.
pub(crate) fn records(answer: &Answer) -> BTreeMap<String, Record> {
    let document = Document::parse(&answer.xml).unwrap();
    let nodes = document
        .descendants()
        .filter(|node| node.has_tag_name((PROTOCOL, "record")));
    nodes.map(|node| (identifier(node), record(node))).collect()
}

fn identifier(node: Node<'_, '_>) -> String {
    let mut nodes = node.descendants();
    let identifier = nodes.find(|node| node.has_tag_name((PROTOCOL, "identifier")));
    identifier.and_then(|node| node.text()).unwrap().to_owned()
}

fn record(node: Node<'_, '_>) -> Record {
    let mut record = Record::default();
    for node in node.descendants().filter(Node::is_element) {
        let text = node.text().unwrap_or_default();
        match node.tag_name().name() {
            "header" => record.deleted |= node.attribute("status") == Some("deleted"),
            "field" => {
                let name = node.attribute("name").unwrap_or_default();
                record.fields.push((name.to_owned(), text.to_owned()));
            }
            "format" => record.formats.push(text.to_owned()),
            "Resource" if node.attribute("encoding") == Some("base64") => {
                record.by_value = Some(from_base64(text));
            }
            "Resource" => record.reference = node.attribute("ref").map(str::to_owned),
            _ => {}
        }
    }
    record
}

const PROTOCOL: &str = "http://www.openarchives.org/OAI/2.0/";
