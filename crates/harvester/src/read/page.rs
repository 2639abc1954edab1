//! One answer, read from its beginning to its end: records come out as they are met, what is said
//! around them is in the report afterwards.

use std::io::{BufRead, ErrorKind};
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::decompress::Trailing;
use super::draft::Draft;
use super::entities::Entities;
use super::names::Names;
use super::namespaces::{OAI, declared_prefix, local};
use super::references::{mended, resolve, unescape};
use super::text::{Limit, Text};
use super::{Leniency, ReadRules};
use crate::buffers::Buffer;
use crate::error::{Error, Misbehaviour};
use crate::record::{Header, LeftOut, MetadataFormat, Record, Set, Token};
use crate::unpack::Spool;
use crate::{Quirk, Quirks};

/// Reads one answer.
pub(crate) struct PageReader {
    pub(super) xml: Reader<Text>,
    pub(super) rules: ReadRules,
    buffer: Vec<u8>,
    pub(super) open: Names,
    /// The declarations outside of records: depth, prefix, namespace.
    pub(super) outer: Vec<Declaration>,
    pub(super) draft: Draft,
    pub(super) report: Report,
    /// Bytes that the parser has not seen, because records were taken at one go.
    pub(super) skipped: u64,
    in_verb: bool,
    /// Whether the answer came compressed, and has to be read to its end before it can be trusted.
    is_compressed: bool,
    trailing: Trailing,
    /// A record whose start tag was passed over.
    pub(super) begun: Option<Begun>,
    ended: bool,
    /// Whether the end of the body was looked at.
    closed: bool,
    pub(super) last: Option<String>,
    /// Where long values go, if they are to be taken out of records.
    pub(super) spool: Option<Arc<dyn Spool>>,
    /// The declarations of the document type.
    pub(super) entities: Entities,
    /// The part that is wanted of a static repository; none of an answer to a request.
    pub(super) wanted: Option<StaticPart>,
    /// Whether no record is read at one go; only tests want that.
    pub(super) piece_by_piece: bool,
}

/// The part of a static repository that answers a request: a file has the answers to all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StaticPart {
    /// The element that holds it: `Identify`, `ListMetadataFormats`, or `ListRecords` for everything that has records.
    pub(crate) element: &'static str,
    /// The format of the records.
    pub(crate) metadata_prefix: String,
}

/// An event of an answer.
#[derive(Debug)]
pub(crate) enum PageItem {
    /// In a box, so that headers are not moved about with the room for one.
    Record(Box<Record>),
    Header(Header),
    Set(Set),
    MetadataFormat(MetadataFormat),
    LeftOut(LeftOut),
    /// Everything that was given of the page is void: its checksum does not fit. It is given once more.
    Void,
}

/// The parts of an answer beside its records.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) response_date: Option<String>,
    /// The name of the verb's element, if the answer has one.
    pub(crate) verb: Option<String>,
    pub(crate) token: Option<Token>,
    /// Codes and messages.
    pub(crate) errors: Vec<(String, String)>,
    /// The children of Identify.
    pub(crate) identity: Vec<(String, String)>,
    pub(crate) quirks: Quirks,
    /// The length of the answer, decoded.
    pub(crate) bytes: u64,
}

pub(super) struct Declaration {
    pub(super) depth: usize,
    pub(super) prefix: String,
    /// As written, with its references.
    pub(super) namespace: String,
    /// Finds where the prefix might be used.
    pub(super) uses: memchr::memmem::Finder<'static>,
}

/// A record that is begun.
pub(super) struct Begun {
    /// Where its start tag begins.
    pub(super) start: u64,
    /// Whether it is a header without a record around it.
    pub(super) bare: bool,
}

/// The step to take after one event outside of records.
enum Step {
    On,
    PageItem(PageItem),
    End,
}

impl PageReader {
    /// Begins to read a body.
    pub(crate) fn open(
        body: Box<dyn BufRead + Send>,
        compressed: bool,
        charset: Option<&str>,
        rules: ReadRules,
        buffer: Buffer,
    ) -> Result<Self, Error> {
        let plain = super::decompress::decompress(body, compressed)
            .map_err(|error| Error::transport(format!("the answer broke off: {error}")))?;
        let limits = (rules.page_limit, rules.record_limit as u64);
        let mut text = Text::new(plain.bytes, charset, limits, buffer);
        if rules.leniency == Leniency::Repair {
            text.pass_over_leading_text();
        }
        let mut xml = Reader::from_reader(text);
        let config = xml.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let mut report = Report::default();
        if let Some(quirk) = plain.quirk {
            report.quirks.add(quirk);
        }
        Ok(Self {
            xml,
            rules,
            buffer: Vec::new(),
            open: Names::default(),
            outer: Vec::new(),
            draft: Draft::default(),
            report,
            skipped: 0,
            in_verb: false,
            is_compressed: plain.is_compressed,
            trailing: plain.trailing,
            begun: None,
            ended: false,
            closed: false,
            last: None,
            spool: None,
            entities: Entities::default(),
            wanted: None,
            piece_by_piece: false,
        })
    }

    /// Reads a part of a static repository instead of an answer.
    pub(crate) fn read_static(&mut self, wanted: StaticPart) {
        self.wanted = Some(wanted);
    }

    /// The next thing that was asked for, until there is no more.
    pub(crate) fn next(&mut self) -> Result<Option<PageItem>, Error> {
        // The buffer is apart from the rest while events borrow from it.
        let mut buffer = std::mem::take(&mut self.buffer);
        let found = loop {
            if self.ended {
                break self.close().map(|()| None);
            }
            match self.step(&mut buffer) {
                Ok(Step::On) => {}
                Ok(Step::PageItem(found)) => break Ok(Some(found)),
                Ok(Step::End) => self.ended = true,
                Err(error) => {
                    (self.ended, self.closed) = (true, true);
                    break Err(error);
                }
            }
        };
        self.buffer = buffer;
        self.report.bytes = self.position();
        found
    }

    /// The parts of the answer beside its records; complete when `next` has given `None`.
    pub(crate) fn report(&mut self) -> &mut Report {
        for quirk in self.xml.get_mut().quirks() {
            self.report.quirks.add(quirk);
        }
        &mut self.report
    }

    /// Takes a header back that was given: its memory serves the next one.
    pub(crate) fn reuse(&mut self, header: Header) {
        self.draft.reuse(header);
    }

    /// Whether the answer came compressed. Then what was given is not to be trusted before the end.
    pub(crate) fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Reads a compressed answer to its end, and verifies its checksum.
    pub(crate) fn verify(&mut self) -> Result<(), Error> {
        if !self.is_compressed {
            return Ok(());
        }
        let verified = self.xml.get_mut().pass_over_rest();
        verified.map_err(|error| self.unreadable(&error))?;
        if self.trailing.is_there() {
            self.report.quirks.add(Quirk::TrailingContent);
        }
        Ok(())
    }

    /// Looks at what follows the answer.
    fn close(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        let position = self.position();
        let text = self.xml.get_mut();
        if text.has_fault_before(position) {
            self.report.quirks.add(Quirk::IllegalCharactersReplaced);
        }
        if text.drain() {
            self.report.quirks.add(Quirk::TrailingContent);
        }
        self.verify()
    }

    fn step(&mut self, buffer: &mut Vec<u8>) -> Result<Step, Error> {
        if let Some(Begun { start, bare }) = self.begun.take() {
            self.draft.begin_again();
            return Ok(Step::PageItem(self.record(start, false, bare, buffer)?));
        }
        let before = self.position();
        match self.pull(buffer)? {
            Event::Start(tag) => {
                let part = self.enter(&tag)?;
                self.read_part(part, before, false, buffer)
            }
            Event::Empty(tag) => {
                let part = self.enter(&tag)?;
                self.read_part(part, before, true, buffer)
            }
            Event::End(tag) => self.leave(tag.name().as_ref()),
            Event::Text(text) if self.open.is_empty() && !text.trim().is_empty() => {
                Err(Misbehaviour::NotXml(beginning(&text)).into())
            }
            Event::DocType(text) => match doctype(&text) {
                Misbehaviour::DocumentType => {
                    self.report.quirks.add(Quirk::DocumentType);
                    self.entities = Entities::declared(&text);
                    Ok(Step::On)
                }
                page => Err(page.into()),
            },
            Event::Eof => Err(self.truncated()),
            _ => Ok(Step::On),
        }
    }

    /// Notes a start tag outside of records and says what it begins.
    fn enter(&mut self, tag: &BytesStart<'_>) -> Result<Part, Error> {
        let name = tag.name();
        let name: &str = name.as_ref();
        let local = local(name);
        let depth = self.open.len();
        let part = match (depth, local) {
            (0, "OAI-PMH") if self.wanted.is_none() => Part::Envelope,
            (0, "Repository") if self.wanted.is_some() => Part::Envelope,
            (0, other) if other.eq_ignore_ascii_case("html") => {
                return Err(Misbehaviour::WebPage.into());
            }
            (0, other) if self.wanted.is_some() => {
                return Err(Misbehaviour::NotStatic(beginning(other)).into());
            }
            (0, other) => return Err(Misbehaviour::NotOaiPmh(beginning(other)).into()),
            (1, verb) if self.is_unwanted(verb, tag) => Part::Other,
            (1, "responseDate") => Part::ResponseDate,
            (1, "error") => Part::Error(attribute(tag, "code").unwrap_or_default()),
            (1, "Identify") => Part::Identify,
            (1, verb) if VERBS.contains(&verb) => Part::Verb,
            (2, "record") if self.in_verb => Part::Record,
            (2, "header") if self.in_verb => Part::Header,
            (2, "set") if self.in_verb => Part::Set,
            (2, "metadataFormat") if self.in_verb => Part::MetadataFormat,
            (1 | 2, "resumptionToken") => Part::Token(Token {
                value: String::new(),
                cursor: number(tag, "cursor"),
                complete_list_size: number(tag, "completeListSize"),
                expiration_date: attribute(tag, "expirationDate"),
            }),
            _ => Part::Other,
        };
        match part {
            Part::Record | Part::Header => self.draft.begin(name, tag.attributes_raw()),
            Part::Envelope | Part::Verb | Part::Identify => self.declare(tag, depth),
            _ => {}
        }
        if matches!(part, Part::Verb | Part::Identify) {
            self.report.verb = Some(local.to_owned());
        }
        if matches!(part, Part::Envelope) && self.wanted.is_none() && !self.in_namespace(name) {
            self.report.quirks.add(Quirk::WrongNamespace);
        }
        self.push(name)?;
        Ok(part)
    }

    /// Whether an element of a static repository is another part than the one that is wanted.
    fn is_unwanted(&self, element: &str, tag: &BytesStart<'_>) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| {
            let prefix = || attribute(tag, "metadataPrefix").unwrap_or_default();
            element != wanted.element
                || element == "ListRecords" && prefix().trim() != wanted.metadata_prefix
        })
    }

    fn read_part(
        &mut self,
        part: Part,
        start: u64,
        empty: bool,
        buffer: &mut Vec<u8>,
    ) -> Result<Step, Error> {
        match part {
            Part::Record => return Ok(Step::PageItem(self.record(start, empty, false, buffer)?)),
            Part::Header => return Ok(Step::PageItem(self.record(start, empty, true, buffer)?)),
            _ if empty => {
                let step = self.close_top();
                match part {
                    Part::Token(token) => self.report.token = Some(token),
                    Part::Error(code) => self.error(code, String::new()),
                    _ => {}
                }
                return Ok(step);
            }
            Part::Envelope | Part::Other => {}
            Part::Verb => self.in_verb = true,
            Part::ResponseDate => self.report.response_date = Some(self.text(buffer)?),
            Part::Error(code) => {
                let message = self.text(buffer)?;
                self.error(code, message);
            }
            Part::Identify => self.report.identity = self.children(buffer)?,
            Part::Token(token) => self.token(token, start, buffer)?,
            Part::Set => {
                let mut set = Set::default();
                for (name, text) in self.children(buffer)? {
                    match name.as_str() {
                        "setSpec" => set.set_spec = text,
                        "setName" => set.set_name = text,
                        _ => {}
                    }
                }
                return Ok(Step::PageItem(PageItem::Set(set)));
            }
            Part::MetadataFormat => {
                let mut format = MetadataFormat::default();
                for (name, text) in self.children(buffer)? {
                    match name.as_str() {
                        "metadataPrefix" => format.metadata_prefix = text,
                        "schema" => format.schema = text,
                        "metadataNamespace" => format.metadata_namespace = text,
                        _ => {}
                    }
                }
                return Ok(Step::PageItem(PageItem::MetadataFormat(format)));
            }
        }
        Ok(Step::On)
    }

    fn error(&mut self, code: String, message: String) {
        if self.report.errors.len() < MOST_ERRORS {
            self.report.errors.push((code, message));
        }
    }

    fn token(&mut self, mut token: Token, start: u64, buffer: &mut Vec<u8>) -> Result<(), Error> {
        drop(self.xml.get_mut().faults_before(start));
        token.value = self.text(buffer)?;
        let end = self.position();
        if self.xml.get_ref().has_fault_before(end) {
            let reason = "the resumptionToken holds characters that are not allowed";
            return Err(self.broken(reason));
        }
        self.report.token = Some(token);
        Ok(())
    }

    /// The text of the element that was just entered, up to its end.
    fn text(&mut self, buffer: &mut Vec<u8>) -> Result<String, Error> {
        let depth = self.open.len();
        let mut text = String::new();
        while self.open.len() >= depth {
            self.text_event(depth, &mut text, buffer)?;
            if text.len() > LONGEST_TEXT {
                return Err(self.broken("an element that should be short is not"));
            }
        }
        Ok(text.trim().to_owned())
    }

    /// Reads one event inside of an element; text counts at the depth given.
    fn text_event(
        &mut self,
        depth: usize,
        text: &mut String,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let here = self.open.len() == depth;
        match self.pull(buffer)? {
            Event::Start(tag) => self.push(tag.name().as_ref())?,
            Event::End(tag) => {
                self.leave(tag.name().as_ref())?;
            }
            Event::Text(part) if here => text.push_str(&part),
            Event::CData(part) if here => text.push_str(&part),
            Event::GeneralRef(name) if here => match resolve(&name) {
                Some(c) => text.push(c),
                None => match self.entities.text(&name) {
                    Some(entity) => text.push_str(entity),
                    None => text.push_str(&unescape(&mended(&name))),
                },
            },
            Event::DocType(part) => return Err(doctype(&part).into()),
            Event::Eof => return Err(self.truncated()),
            _ => {}
        }
        Ok(())
    }

    /// The children of the element that was just entered, with their texts.
    fn children(&mut self, buffer: &mut Vec<u8>) -> Result<Vec<(String, String)>, Error> {
        let depth = self.open.len();
        let mut children: Vec<(String, String)> = Vec::new();
        let mut length = 0;
        while self.open.len() >= depth {
            let before = self.open.len();
            let mut text = String::new();
            self.text_event(depth + 1, &mut text, buffer)?;
            if before == depth && self.open.len() == depth + 1 {
                let name = local(self.open.top()).to_owned();
                length += name.len();
                children.push((name, String::new()));
            }
            length += text.len();
            if let Some((_, last)) = children.last_mut() {
                last.push_str(&text);
            }
            if length > LONGEST_TEXT {
                return Err(self.broken("an element that should be short is not"));
            }
        }
        for (_, text) in &mut children {
            *text = text.trim().to_owned();
        }
        Ok(children)
    }

    /// Takes an end tag outside of records.
    fn leave(&mut self, name: &str) -> Result<Step, Error> {
        if self.open.is_empty() || self.open.top() != name {
            if self.rules.leniency == Leniency::Strict {
                return Err(self.broken(&mismatch(name)));
            }
            if !self.open.contains(name) {
                return Ok(Step::On);
            }
            while self.open.top() != name {
                self.open.pop();
            }
        }
        Ok(self.close_top())
    }

    fn close_top(&mut self) -> Step {
        self.open.pop();
        let depth = self.open.len();
        self.outer.retain(|declaration| declaration.depth < depth);
        if depth < 2 {
            self.in_verb = false;
        }
        match depth {
            0 => Step::End,
            _ => Step::On,
        }
    }

    /// Notes that elements were closed by the end tag of one around them.
    pub(super) fn left_by_force(&mut self) {
        self.in_verb &= self.open.len() >= 2;
        self.ended |= self.open.is_empty();
    }

    fn declare(&mut self, tag: &BytesStart<'_>, depth: usize) {
        for attribute in tag.attributes().flatten() {
            let Some(prefix) = declared_prefix(attribute.key.as_ref()) else {
                continue;
            };
            if self.outer.len() == MOST_DECLARATIONS {
                return;
            }
            self.outer.retain(|other| other.prefix != prefix);
            self.outer.push(Declaration {
                depth,
                prefix: prefix.to_owned(),
                namespace: attribute.value.replace('"', "&quot;"),
                uses: memchr::memmem::Finder::new(&format!("{prefix}:")).into_owned(),
            });
        }
    }

    fn in_namespace(&self, name: &str) -> bool {
        let prefix = super::namespaces::prefix(name).unwrap_or("");
        let declaration = self.outer.iter().find(|outer| outer.prefix == prefix);
        declaration.is_some_and(|outer| outer.namespace == OAI)
    }

    pub(super) fn push(&mut self, name: &str) -> Result<(), Error> {
        if self.open.len() == self.rules.depth_limit {
            return Err(Misbehaviour::TooDeep {
                limit: self.rules.depth_limit,
                after: self.last.clone(),
            }
            .into());
        }
        self.open.push(name);
        Ok(())
    }

    pub(super) fn pull<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Result<Event<'b>, Error> {
        buffer.clear();
        self.xml.get_mut().next_event();
        match self.xml.read_event_into(buffer) {
            Ok(event) => Ok(event),
            Err(quick_xml::Error::Io(error)) => Err(self.unreadable(&error)),
            Err(quick_xml::Error::Syntax(_)) => Err(self.truncated()),
            Err(error) => Err(self.broken(&error.to_string())),
        }
    }

    pub(super) fn unreadable(&self, error: &std::io::Error) -> Error {
        let limit = error.get_ref().and_then(|inner| inner.downcast_ref());
        match limit {
            Some(Limit::Bytes(limit)) => Misbehaviour::TooLong {
                limit: *limit,
                after: self.last.clone(),
            }
            .into(),
            Some(Limit::Faults(limit)) => Misbehaviour::NotText {
                limit: *limit,
                after: self.last.clone(),
            }
            .into(),
            None if is_damage(error.kind()) => {
                Error::transport(format!("the compressed answer is damaged: {error}"))
            }
            None => Error::transport(format!("the answer broke off: {error}")),
        }
    }

    pub(super) fn truncated(&self) -> Error {
        Misbehaviour::Truncated {
            offset: self.position(),
            after: self.last.clone(),
        }
        .into()
    }

    pub(super) fn broken(&self, reason: &str) -> Error {
        Misbehaviour::Broken {
            offset: self.position(),
            after: self.last.clone(),
            reason: reason.to_owned(),
        }
        .into()
    }

    pub(super) fn position(&self) -> u64 {
        self.xml.buffer_position() + self.skipped
    }
}

/// The kind of a start tag outside of records.
enum Part {
    Envelope,
    ResponseDate,
    Error(String),
    Identify,
    Verb,
    Record,
    Header,
    Set,
    MetadataFormat,
    Token(Token),
    Other,
}

/// Whether an error tells of compressed bytes that are not what was sent.
fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidData | ErrorKind::InvalidInput)
}

pub(super) fn mismatch(name: &str) -> String {
    format!("the end tag `{}` does not fit", beginning(name))
}

/// The consequence of a document type for an answer.
pub(super) fn doctype(text: &str) -> Misbehaviour {
    let name = text.trim_start();
    match name.get(..4) {
        Some(name) if name.eq_ignore_ascii_case("html") => Misbehaviour::WebPage,
        _ => Misbehaviour::DocumentType,
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok().flatten()?;
    Some(unescape(&attribute.value))
}

fn number(tag: &BytesStart<'_>, name: &str) -> Option<u64> {
    attribute(tag, name)?.trim().parse().ok()
}

/// The beginning of a text, for messages.
fn beginning(text: &str) -> String {
    text.trim().chars().take(40).collect()
}

const VERBS: [&str; 5] = [
    "GetRecord",
    "ListIdentifiers",
    "ListMetadataFormats",
    "ListRecords",
    "ListSets",
];
const LONGEST_TEXT: usize = 1 << 20;
const MOST_ERRORS: usize = 100;
const MOST_DECLARATIONS: usize = 100;
