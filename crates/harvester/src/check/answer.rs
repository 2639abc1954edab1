//! An answer as it is written: nothing is repaired, every deviation from the protocol is told.

use oai::{Datestamp, Granularity};
use roxmltree::{Document, Node, ParsingOptions};

use crate::Exchange;

const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";
/// The most nodes of a document that is read.
const MOST_NODES: u32 = 2_000_000;

/// The parts of an answer that rules look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) url: String,
    /// The first deviation of the envelope from the schema.
    pub(super) deviation: Option<String>,
    pub(super) response_date: Option<(Datestamp, Granularity)>,
    /// The text and the attributes of `request`.
    pub(super) request: (String, Vec<(String, String)>),
    /// Codes of errors.
    pub(super) errors: Vec<String>,
    /// The name of the element of the verb.
    pub(super) verb: String,
    /// The children of `Identify`.
    pub(super) facts: Vec<(String, String)>,
    pub(super) formats: Vec<Format>,
    pub(super) sets: Vec<String>,
    pub(super) records: Vec<Record>,
    pub(super) token: Option<Token>,
}

/// A metadata format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) prefix: String,
    pub(super) schema: String,
    pub(super) namespace: String,
}

/// A header, alone or in a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) identifier: String,
    pub(super) datestamp: String,
    pub(super) sets: Vec<String>,
    pub(super) is_deleted: bool,
    pub(super) has_metadata: bool,
}

/// A resumptionToken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) cursor: Option<String>,
    pub(super) size: Option<String>,
}

impl Answer {
    /// Reads the body of an answer; the error says why it is no well-formed XML.
    pub(super) fn read(exchange: &Exchange) -> Result<Self, String> {
        let text = std::str::from_utf8(&exchange.body)
            .map_err(|error| format!("byte {} is not UTF-8", error.valid_up_to()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let options = ParsingOptions {
            allow_dtd: false,
            nodes_limit: MOST_NODES,
            ..ParsingOptions::default()
        };
        let document =
            Document::parse_with_options(text, options).map_err(|error| error.to_string())?;
        let mut answer = Self {
            url: exchange.url.clone(),
            ..Self::default()
        };
        answer.take(document.root_element());
        Ok(answer)
    }

    /// Whether the repository answers with an error of this code.
    pub(super) fn has_error(&self, code: &str) -> bool {
        self.errors.iter().any(|error| error == code)
    }

    /// The answer in a few words, for findings.
    pub(super) fn summary(&self) -> String {
        match (self.errors.is_empty(), self.verb.as_str()) {
            (false, _) => format!("the answer is {}", self.errors.join(", ")),
            (true, "") => "the answer is no OAI-PMH".to_owned(),
            (true, verb) if !self.records.is_empty() => {
                format!("the answer is {verb} with {} records", self.records.len())
            }
            (true, verb) => format!("the answer is {verb}, without an error"),
        }
    }

    fn take(&mut self, root: Node<'_, '_>) {
        if !is_named(root, "OAI-PMH") {
            let name = root.tag_name().name();
            self.deviate(format!(
                "the root element is `{name}`, not OAI-PMH in the namespace {NAMESPACE}"
            ));
            return;
        }
        let children: Vec<_> = root.children().filter(Node::is_element).collect();
        let names: Vec<_> = children
            .iter()
            .map(|child| child.tag_name().name())
            .collect();
        if names.first() != Some(&"responseDate") || names.get(1) != Some(&"request") {
            self.deviate("OAI-PMH must begin with responseDate and request".to_owned());
        }
        for child in children {
            if child.tag_name().namespace() != Some(NAMESPACE) {
                let name = child.tag_name().name();
                self.deviate(format!("`{name}` is not in the namespace {NAMESPACE}"));
            }
            match child.tag_name().name() {
                "responseDate" => self.take_date(&text(child)),
                "request" => self.take_request(child),
                "error" => self.take_error(child),
                name if is_verb(name) => self.take_verb(child),
                name => self.deviate(format!("the schema has no element `{name}` in OAI-PMH")),
            }
        }
        match (self.errors.is_empty(), self.verb.is_empty()) {
            (true, true) => {
                self.deviate("there is neither an error nor the element of a verb".to_owned());
            }
            (false, false) => {
                self.deviate("there is an error beside the element of a verb".to_owned());
            }
            _ => {}
        }
    }

    fn deviate(&mut self, deviation: String) {
        self.deviation.get_or_insert(deviation);
    }

    fn take_date(&mut self, text: &str) {
        self.response_date = strict_datestamp(text);
        if !matches!(self.response_date, Some((_, Granularity::Second))) {
            self.deviate(format!(
                "the responseDate `{text}` is not of the form YYYY-MM-DDThh:mm:ssZ"
            ));
        }
    }

    fn take_request(&mut self, node: Node<'_, '_>) {
        let attributes = node.attributes();
        let attributes = attributes.map(|a| (a.name().to_owned(), a.value().to_owned()));
        self.request = (text(node), attributes.collect());
    }

    fn take_error(&mut self, node: Node<'_, '_>) {
        let code = node.attribute("code").unwrap_or_default();
        if !CODES.contains(&code) {
            self.deviate(format!("the protocol has no error code `{code}`"));
        }
        self.errors.push(code.to_owned());
    }

    fn take_verb(&mut self, node: Node<'_, '_>) {
        self.verb = node.tag_name().name().to_owned();
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "metadataFormat" => self.formats.push(Format {
                    prefix: child_text(child, "metadataPrefix"),
                    schema: child_text(child, "schema"),
                    namespace: child_text(child, "metadataNamespace"),
                }),
                "set" => self.sets.push(child_text(child, "setSpec")),
                "header" => {
                    let record = Record::read(child);
                    self.records.push(record);
                }
                "record" => self.take_record(child),
                "resumptionToken" => {
                    self.token = Some(Token {
                        text: text(child),
                        cursor: child.attribute("cursor").map(str::to_owned),
                        size: child.attribute("completeListSize").map(str::to_owned),
                    });
                }
                name if self.verb == "Identify" => {
                    self.facts.push((name.to_owned(), text(child)));
                }
                name => self.deviate(format!(
                    "the schema has no element `{name}` in {}",
                    self.verb
                )),
            }
        }
    }

    fn take_record(&mut self, node: Node<'_, '_>) {
        let mut children = node.children().filter(Node::is_element);
        let Some(header) = children.next().filter(|child| is_named(*child, "header")) else {
            self.deviate("a record does not begin with its header".to_owned());
            return;
        };
        let mut record = Record::read(header);
        let metadata = node.children().find(|child| is_named(*child, "metadata"));
        record.has_metadata =
            metadata.is_some_and(|metadata| metadata.children().any(|child| child.is_element()));
        self.records.push(record);
    }
}

impl Record {
    fn read(header: Node<'_, '_>) -> Self {
        let sets = header
            .children()
            .filter(|child| is_named(*child, "setSpec"));
        Self {
            identifier: child_text(header, "identifier"),
            datestamp: child_text(header, "datestamp"),
            sets: sets.map(text).collect(),
            is_deleted: header.attribute("status") == Some("deleted"),
            has_metadata: false,
        }
    }
}

/// A datestamp exactly as the protocol writes it.
pub(super) fn strict_datestamp(text: &str) -> Option<(Datestamp, Granularity)> {
    let read = Datestamp::parse(text)?;
    let shape: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '9' } else { c })
        .collect();
    match (shape.as_str(), read.1) {
        ("9999-99-99", Granularity::Day) | ("9999-99-99T99:99:99Z", Granularity::Second) => {
            Some(read)
        }
        _ => None,
    }
}

fn is_verb(name: &str) -> bool {
    oai::Verb::ALL.iter().any(|verb| verb.as_str() == name)
}

fn is_named(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element()
        && node.tag_name().name() == name
        && node.tag_name().namespace() == Some(NAMESPACE)
}

fn text(node: Node<'_, '_>) -> String {
    let texts = node.children().filter_map(|child| child.text());
    texts.collect::<String>().trim().to_owned()
}

fn child_text(node: Node<'_, '_>, name: &str) -> String {
    let child = node.children().find(|child| is_named(*child, name));
    child.map(text).unwrap_or_default()
}

const CODES: [&str; 8] = [
    "badArgument",
    "badResumptionToken",
    "badVerb",
    "cannotDisseminateFormat",
    "idDoesNotExist",
    "noMetadataFormats",
    "noRecordsMatch",
    "noSetHierarchy",
];
