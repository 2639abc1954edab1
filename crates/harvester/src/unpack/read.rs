//! Reads the DIDL of a record: which elements matter, and what they say.

use std::ops::Range;
use std::time::SystemTime;

use oai::Datestamp;
use oai::format::{didl, http_header};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use super::value::{Inline, Text, Value};
use super::{Algorithm, Digest, Error, HttpHeader, Resource};

/// Reads the resources of a record in DIDL. A deleted record has none, nor has one in another format.
pub fn resources(record: &[u8]) -> Result<Vec<Resource<'_>>, Error> {
    let text = std::str::from_utf8(record).map_err(|error| Error::Xml {
        offset: error.valid_up_to() as u64,
        reason: "it is not UTF-8".to_owned(),
    })?;
    let mut reader = NsReader::from_str(text);
    let mut document = Document::default();
    loop {
        let at = reader.buffer_position();
        let failed = |error: &dyn std::fmt::Display| Error::Xml {
            offset: at,
            reason: error.to_string(),
        };
        let (namespace, event) = reader
            .read_resolved_event()
            .map_err(|error| failed(&error))?;
        match event {
            Event::Start(start) => {
                document
                    .start(&namespace, &start, at)
                    .map_err(|error| error.at(at))?;
            }
            Event::Empty(start) => {
                document
                    .start(&namespace, &start, at)
                    .map_err(|error| error.at(at))?;
                document.end(reader.buffer_position())?;
            }
            Event::End(_) => document.end(reader.buffer_position())?,
            Event::Text(text) => document.text(text.into_inner())?,
            Event::CData(text) => document.text(text.into_inner())?,
            Event::GeneralRef(reference) => document.reference(&reference).map_err(|e| e.at(at))?,
            Event::DocType(_) => return Err(Error::Refused("it has a DOCTYPE")),
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
            Event::Eof if document.elements.is_empty() => return Ok(document.resources),
            Event::Eof => return Err(failed(&"it ends within an element")),
        }
    }
}

/// The parts read so far.
#[derive(Default)]
struct Document<'a> {
    elements: Vec<Element>,
    /// The text of the innermost element, where it matters.
    text: Captured<'a>,
    /// Items and components around, the innermost last.
    scopes: Vec<Scope<'a>>,
    resources: Vec<Resource<'a>>,
}

/// The role of an element.
#[derive(Debug, Clone, PartialEq)]
enum Element {
    /// Around the DIDL.
    Outside,
    Didl,
    Item,
    Component,
    Descriptor,
    Statement,
    Identifier,
    Modified,
    Header,
    /// With its name.
    Field(String),
    Fixity,
    /// With the name of its algorithm.
    Digest(String),
    Resource,
    /// Within the DIDL, and of no interest.
    Foreign,
}

/// Text in pieces, with what references stand for.
#[derive(Default)]
struct Captured<'a> {
    /// As it lies in the record, for base64.
    pieces: Vec<&'a str>,
    /// All of it, for the rest.
    whole: String,
}

/// The statements of descriptors on an item or a component.
#[derive(Default)]
struct Scope<'a> {
    is_component: bool,
    identifier: Option<String>,
    modified: Option<String>,
    http: Option<HttpHeader>,
    digests: Vec<Digest>,
    copies: Vec<Copy<'a>>,
}

/// A `Resource` element. Several in a component are copies of the same bits.
#[derive(Default)]
struct Copy<'a> {
    media_type: Option<String>,
    reference: Option<String>,
    is_base64: bool,
    codings: Vec<String>,
    has_elements: bool,
    /// Where the element begins in the record.
    begin: u64,
    value: Option<(Inline<'a>, Range<usize>)>,
}

impl<'a> Document<'a> {
    fn start(
        &mut self,
        namespace: &ResolveResult<'_>,
        start: &BytesStart<'_>,
        at: u64,
    ) -> Result<(), Fault> {
        if self.elements.len() >= DEEPEST {
            return Err(Fault::Refused("it is nested too deep"));
        }
        let namespace = match namespace {
            ResolveResult::Bound(namespace) => namespace.as_ref(),
            ResolveResult::Unbound => "",
            ResolveResult::Unknown(_) => {
                return Err(Fault::Xml("a prefix is not declared".to_owned()));
            }
        };
        let parent = self.elements.last().unwrap_or(&Element::Outside);
        let local = start.local_name();
        let element = child(parent, namespace, local.as_ref());
        let element = match element {
            Element::Item => {
                self.scopes.push(Scope::default());
                element
            }
            Element::Component => {
                self.scopes.push(Scope {
                    is_component: true,
                    ..Scope::default()
                });
                element
            }
            Element::Header => {
                let status = attribute(start, "status")?;
                let status = status.and_then(|status| status.parse().ok());
                self.scope().http = Some(HttpHeader {
                    status: status.unwrap_or(200),
                    fields: Vec::new(),
                });
                element
            }
            Element::Field(_) => Element::Field(attribute(start, "name")?.unwrap_or_default()),
            Element::Digest(_) => {
                Element::Digest(attribute(start, "algorithm")?.unwrap_or_default())
            }
            Element::Resource => {
                let mut copy = Copy::read(start)?;
                copy.begin = at;
                self.scope().copies.push(copy);
                element
            }
            Element::Foreign if *parent == Element::Resource => {
                if let Some(copy) = self.scope().copies.last_mut() {
                    copy.has_elements = true;
                }
                element
            }
            element => element,
        };
        if element != Element::Foreign {
            self.text = Captured::default();
        }
        self.elements.push(element);
        Ok(())
    }

    fn end(&mut self, at: u64) -> Result<(), Error> {
        let element = self.elements.pop().unwrap_or(Element::Outside);
        let text = || self.text.whole.trim().to_owned();
        match element {
            Element::Identifier => {
                let identifier = text();
                self.scope().identifier.get_or_insert(identifier);
            }
            Element::Modified => self.scope().modified = Some(text()),
            Element::Field(name) => {
                let value = text();
                if let Some(http) = &mut self.scope().http {
                    http.fields.push((name, value));
                }
            }
            Element::Digest(algorithm) => {
                let hex = text().to_ascii_lowercase();
                if let Some(algorithm) = Algorithm::parse(&algorithm) {
                    self.scope().digests.push(Digest { algorithm, hex });
                }
            }
            Element::Resource => {
                let text = std::mem::take(&mut self.text);
                if let Some(copy) = self.scope().copies.last_mut() {
                    copy.take(text, at);
                }
            }
            Element::Component => self.component()?,
            Element::Item => {
                self.scopes.pop();
            }
            _ => return Ok(()),
        }
        self.text = Captured::default();
        Ok(())
    }

    fn text(&mut self, text: std::borrow::Cow<'a, str>) -> Result<(), Error> {
        match self.elements.last() {
            // Base64 of many megabytes is not copied.
            Some(Element::Resource) if self.is_base64() => {
                let std::borrow::Cow::Borrowed(piece) = text else {
                    return Err(Error::Refused("its text cannot be read where it lies"));
                };
                if self.text.pieces.len() >= MOST_PIECES {
                    return Err(Error::Refused("its base64 is split into too many pieces"));
                }
                self.text.pieces.push(piece);
            }
            Some(
                Element::Resource
                | Element::Identifier
                | Element::Modified
                | Element::Field(_)
                | Element::Digest(_),
            ) => self.text.whole.push_str(&text),
            _ => {}
        }
        Ok(())
    }

    fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), Fault> {
        let c = reference
            .resolve_char_ref()
            .map_err(|error| Fault::Xml(error.to_string()))?;
        let mut buffer = [0; 4];
        let text = match c {
            Some(c) => &*c.encode_utf8(&mut buffer),
            None => resolve_xml_entity(reference)
                .ok_or_else(|| Fault::Xml("an entity is not one of XML's own".to_owned()))?,
        };
        if !self.is_base64() {
            self.text.whole.push_str(text);
        } else if !text.trim().is_empty() {
            // Only line ends are written so; anything else is no base64 and will be found out.
            self.text.pieces.push("&");
        }
        Ok(())
    }

    fn is_base64(&self) -> bool {
        self.elements.last() == Some(&Element::Resource)
            && self
                .scopes
                .last()
                .and_then(|scope| scope.copies.last())
                .is_some_and(|copy| copy.is_base64)
    }

    /// The scope that a descriptor or a resource speaks of. There is one wherever it is asked for.
    fn scope(&mut self) -> &mut Scope<'a> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Makes a resource of a component that is complete.
    fn component(&mut self) -> Result<(), Error> {
        let Some(component) = self.scopes.pop() else {
            return Ok(());
        };
        let mut media_type = None;
        let (mut value, mut reference) = (None, None);
        for copy in component.copies {
            if copy.value.is_none() && copy.reference.is_none() {
                // Metadata inline, as EPrints has it: not a file.
                continue;
            }
            media_type = media_type.or(copy.media_type);
            value = value.or(copy.value);
            reference = reference.or(copy.reference);
        }
        if value.is_none() && reference.is_none() {
            return Ok(());
        }

        let outer = self
            .scopes
            .iter()
            .rev()
            .filter_map(|scope| scope.identifier.as_ref());
        let identifiers = || component.identifier.iter().chain(outer.clone());
        let url = reference
            .iter()
            .chain(identifiers())
            .find(|url| is_url(url))
            .or_else(|| identifiers().next())
            .or(reference.as_ref());
        let url = url
            .filter(|url| !url.is_empty())
            .ok_or(Error::NoUrl)?
            .clone();

        // A statement on an item holds for its own components, not for those of items within it.
        let none = Scope::default();
        let item = self
            .scopes
            .last()
            .filter(|scope| !scope.is_component)
            .unwrap_or(&none);
        let (value, element) = value.unzip();
        let element = element.unwrap_or_default();
        let http = component.http.or_else(|| item.http.clone());
        let told = component.modified.as_ref().or(item.modified.as_ref());
        let modified = last_modified(http.as_ref()).or_else(|| told.and_then(|text| moment(text)));
        let digests = match component.digests.is_empty() {
            true => item.digests.clone(),
            false => component.digests,
        };
        self.resources.push(Resource {
            url,
            media_type,
            http,
            modified,
            digests,
            value: value.map(Value::Inline),
            element,
            reference,
        });
        Ok(())
    }
}

impl<'a> Copy<'a> {
    fn read(start: &BytesStart<'_>) -> Result<Self, Fault> {
        let codings = attribute(start, "contentEncoding")?.unwrap_or_default();
        Ok(Self {
            media_type: attribute(start, "mimeType")?,
            reference: attribute(start, "ref")?,
            is_base64: attribute(start, "encoding")?
                .is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64")),
            codings: codings.split_whitespace().map(str::to_owned).collect(),
            ..Self::default()
        })
    }

    fn take(&mut self, text: Captured<'a>, end: u64) {
        let text = match self.is_base64 {
            true => Text::Base64(text.pieces),
            false => Text::Plain(text.whole),
        };
        let is_blank = matches!(&text, Text::Plain(text) if text.trim().is_empty());
        if !is_blank && !self.has_elements && self.reference.is_none() {
            let codings = std::mem::take(&mut self.codings);
            let element = self.begin as usize..end as usize;
            self.value = Some((Inline { text, codings }, element));
        }
    }
}

fn child(parent: &Element, namespace: &str, local: &str) -> Element {
    use Element::*;
    let in_didl = is_mpeg21(namespace, "-DIDL-NS");
    match (parent, local) {
        (Outside, "DIDL") if in_didl => Didl,
        (Outside, _) => Outside,
        (Didl, "Container") if in_didl => Didl,
        (Didl | Item, "Item") if in_didl => Item,
        (Item, "Component") if in_didl => Component,
        (Item | Component, "Descriptor") if in_didl => Descriptor,
        (Descriptor, "Statement") if in_didl => Statement,
        (Component, "Resource") if in_didl => Resource,
        (Statement, "Identifier") if is_mpeg21(namespace, "-DII-NS") => Identifier,
        (Statement, "modified") if namespace == TERMS => Modified,
        (Statement, "header") if namespace == http_header::NAMESPACE => Header,
        (Header, "field") if namespace == http_header::NAMESPACE => Field(String::new()),
        (Statement, "fixity") if namespace == didl::FIXITY_NAMESPACE => Fixity,
        (Fixity, "digest") if namespace == didl::FIXITY_NAMESPACE => Digest(String::new()),
        _ => Foreign,
    }
}

/// Quirk: the year and the number in these names differ between producers and editions; what they name does not.
fn is_mpeg21(namespace: &str, name: &str) -> bool {
    namespace.starts_with("urn:mpeg:mpeg21:") && namespace.ends_with(name)
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, Fault> {
    let found = start
        .try_get_attribute(name)
        .map_err(|error| Fault::Xml(error.to_string()))?;
    let Some(found) = found else {
        return Ok(None);
    };
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    let value = value.map_err(|error| Fault::Xml(error.to_string()))?;
    Ok(Some(value.trim().to_owned()).filter(|value| !value.is_empty()))
}

fn last_modified(http: Option<&HttpHeader>) -> Option<SystemTime> {
    httpdate::parse_http_date(http?.field("Last-Modified")?).ok()
}

/// A moment as Dublin Core gives it: a date, or a time with its zone.
fn moment(text: &str) -> Option<SystemTime> {
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Some(timestamp.into());
    }
    let (datestamp, _) = Datestamp::parse(text)?;
    Some(
        jiff::Timestamp::from_second(datestamp.seconds())
            .ok()?
            .into(),
    )
}

fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|s| s.eq_ignore_ascii_case("http") || s.eq_ignore_ascii_case("https"))
}

/// An error whose place is not known yet.
enum Fault {
    Xml(String),
    Refused(&'static str),
}

impl Fault {
    fn at(self, offset: u64) -> Error {
        match self {
            Self::Xml(reason) => Error::Xml { offset, reason },
            Self::Refused(reason) => Error::Refused(reason),
        }
    }
}

const TERMS: &str = "http://purl.org/dc/terms/";
const DEEPEST: usize = 200;
/// Enough for a hundred megabytes in lines that each end in a reference.
const MOST_PIECES: usize = 2_000_000;
