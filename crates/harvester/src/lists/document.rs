//! One list: a sitemap, a sitemap index, or a document of ResourceSync, which is a sitemap with more in it.
//!
//! A list lies whole in memory, within a limit; both standards allow 50 MB and 50,000 entries for one.

use std::ops::ControlFlow;

use oai::Datestamp;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use super::ListError;
use crate::record::moment;
use crate::unpack::{Algorithm, Digest};

/// A list that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct List {
    /// Whether its entries are lists themselves.
    pub is_index: bool,
    /// The metadata of ResourceSync on the list; none on a plain sitemap.
    pub metadata: Metadata,
    /// The list or description that it is a part of.
    pub up: Option<String>,
    /// The entries.
    pub entries: Vec<Entry>,
    /// Entries without a URL of the web, which cannot be followed.
    pub unusable: u64,
}

/// One entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its URL, as it stands there.
    pub url: String,
    /// When it last changed, as it stands there.
    pub lastmod: Option<String>,
    /// The metadata of ResourceSync.
    pub metadata: Metadata,
}

/// The element `md` of ResourceSync.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The function of a document: `resourcelist`, `changelist` and others.
    pub capability: Option<String>,
    /// The kind of the change: `created`, `updated` or `deleted`.
    pub change: Option<String>,
    /// When it happened.
    pub datetime: Option<String>,
    /// The moment of which a resource list tells.
    pub at: Option<String>,
    /// The first moment of which a change list tells.
    pub from: Option<String>,
    /// The last one, if no more changes come to it.
    pub until: Option<String>,
    /// The length of a resource in bytes.
    pub length: Option<u64>,
    /// The media type of a resource.
    pub media_type: Option<String>,
    /// The digests of a resource, as far as they are of known kinds.
    pub digests: Vec<Digest>,
}

impl Entry {
    /// When it last changed, in seconds; of a date without a time, the day's beginning.
    pub fn modified(&self) -> Option<i64> {
        seconds(self.lastmod.as_deref()?)
    }

    /// Whether `lastmod` names a day and no time.
    pub fn is_dated_by_day(&self) -> bool {
        self.lastmod
            .as_ref()
            .is_some_and(|date| date.trim().len() <= "YYYY-MM-DD".len())
    }
}

/// A W3C date in seconds. Quirk: years and months without a day are legal in lists, and nobody needs them.
pub(super) fn seconds(date: &str) -> Option<i64> {
    moment(date).map(Datestamp::seconds)
}

impl List {
    /// Reads a list. `bytes` are not compressed any more.
    pub fn parse(bytes: &[u8]) -> Result<Self, ListError> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            ListError::Broken(format!("byte {} is not UTF-8", error.valid_up_to()))
        })?;
        match text.trim_start().starts_with('<') {
            true => Reading::default().read(text),
            false => Self::of_lines(text),
        }
    }

    /// A text with one URL a line, which is a sitemap too.
    fn of_lines(text: &str) -> Result<Self, ListError> {
        let mut list = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if !is_url(line) {
                return Err(ListError::NotAList(beginning(line)));
            }
            list.add(Entry {
                url: line.to_owned(),
                ..Entry::default()
            })?;
        }
        match list.entries.is_empty() {
            true => Err(ListError::NotAList("nothing".to_owned())),
            false => Ok(list),
        }
    }

    fn add(&mut self, entry: Entry) -> Result<(), ListError> {
        if self.entries.len() >= MOST_ENTRIES {
            return Err(ListError::TooManyEntries(MOST_ENTRIES));
        }
        match is_url(&entry.url) {
            true => self.entries.push(entry),
            false => self.unusable += 1,
        }
        Ok(())
    }
}

/// The parts of a list that were read so far.
#[derive(Default)]
struct Reading {
    list: List,
    /// The elements around, the innermost last.
    elements: Vec<Element>,
    entry: Entry,
    text: String,
}

/// The role of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Root,
    Entry,
    Location,
    Modified,
    Foreign,
}

impl Reading {
    fn read(mut self, text: &str) -> Result<List, ListError> {
        let mut reader = NsReader::from_str(text);
        loop {
            let at = reader.buffer_position();
            let broken = |reason: &dyn std::fmt::Display| {
                ListError::Broken(format!("at byte {at}: {reason}"))
            };
            let (namespace, event) = reader
                .read_resolved_event()
                .map_err(|error| broken(&error))?;
            match event {
                Event::Start(start) => self.start(namespace_of(&namespace), &start)?,
                Event::Empty(start) => {
                    self.start(namespace_of(&namespace), &start)?;
                    if self.end()?.is_break() {
                        return Ok(self.list);
                    }
                }
                Event::End(_) => {
                    if self.end()?.is_break() {
                        return Ok(self.list);
                    }
                }
                Event::Text(text) => self.text(&text.into_inner())?,
                Event::CData(text) => self.text(&text.into_inner())?,
                Event::GeneralRef(reference) => {
                    let resolved =
                        resolved(&reference).ok_or_else(|| broken(&"an unknown entity"))?;
                    self.text(&resolved)?;
                }
                Event::DocType(_) => return Err(self.doctype()),
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof => return Err(broken(&"it ends in the middle")),
            }
        }
    }

    /// Mostly a web page.
    fn doctype(&self) -> ListError {
        ListError::NotAList("a document type declaration, as web pages have one".to_owned())
    }

    fn start(&mut self, namespace: &str, start: &BytesStart<'_>) -> Result<(), ListError> {
        if self.elements.len() >= DEEPEST {
            return Err(ListError::Broken("it is nested too deep".to_owned()));
        }
        let local = start.local_name();
        let local: &str = local.as_ref();
        let element = match (self.elements.last(), local) {
            (None, "urlset") => Element::Root,
            (None, "sitemapindex") => {
                self.list.is_index = true;
                Element::Root
            }
            (None, other) => return Err(ListError::NotAList(format!("<{}>", beginning(other)))),
            (Some(Element::Root), "url" | "sitemap") => {
                self.entry = Entry::default();
                Element::Entry
            }
            (Some(Element::Entry), "loc") if namespace != RESOURCE_SYNC => Element::Location,
            (Some(Element::Entry), "lastmod") if namespace != RESOURCE_SYNC => Element::Modified,
            (Some(Element::Root), "md") if namespace == RESOURCE_SYNC => {
                self.list.metadata = metadata(start)?;
                Element::Foreign
            }
            (Some(Element::Entry), "md") if namespace == RESOURCE_SYNC => {
                self.entry.metadata = metadata(start)?;
                Element::Foreign
            }
            (Some(Element::Root), "ln") if namespace == RESOURCE_SYNC => {
                let is_up = attribute(start, "rel")?
                    .is_some_and(|rel| rel.split_whitespace().any(|word| word == "up"));
                if is_up {
                    self.list.up = attribute(start, "href")?;
                }
                Element::Foreign
            }
            _ => Element::Foreign,
        };
        self.text.clear();
        self.elements.push(element);
        Ok(())
    }

    /// Ends an element; breaks at the end of the list.
    fn end(&mut self) -> Result<ControlFlow<()>, ListError> {
        match self.elements.pop() {
            Some(Element::Location) => self.text.trim().clone_into(&mut self.entry.url),
            Some(Element::Modified) => {
                let date = self.text.trim();
                self.entry.lastmod = Some(date.to_owned()).filter(|date| !date.is_empty());
            }
            Some(Element::Entry) => {
                let entry = std::mem::take(&mut self.entry);
                self.list.add(entry)?;
            }
            Some(Element::Root) | None => return Ok(ControlFlow::Break(())),
            Some(Element::Foreign) => {}
        }
        self.text.clear();
        Ok(ControlFlow::Continue(()))
    }

    fn text(&mut self, text: &str) -> Result<(), ListError> {
        if matches!(
            self.elements.last(),
            Some(Element::Location | Element::Modified)
        ) {
            if self.text.len() + text.len() > LONGEST_TEXT {
                return Err(ListError::Broken(format!(
                    "it has a URL of more than {LONGEST_TEXT} bytes"
                )));
            }
            self.text.push_str(text);
        }
        Ok(())
    }
}

fn namespace_of<'n>(namespace: &'n ResolveResult<'_>) -> &'n str {
    match namespace {
        ResolveResult::Bound(namespace) => namespace.as_ref(),
        ResolveResult::Unbound | ResolveResult::Unknown(_) => "",
    }
}

fn resolved(reference: &BytesRef<'_>) -> Option<String> {
    if let Some(c) = reference.resolve_char_ref().ok()? {
        return Some(c.to_string());
    }
    resolve_xml_entity(reference).map(str::to_owned)
}

fn metadata(start: &BytesStart<'_>) -> Result<Metadata, ListError> {
    let text = |name| attribute(start, name);
    let hashes = text("hash")?.unwrap_or_default();
    let digests = hashes.split_whitespace().filter_map(|hash| {
        let (name, hex) = hash.split_once(':')?;
        Some(Digest {
            algorithm: Algorithm::parse(name)?,
            hex: hex.to_ascii_lowercase(),
        })
    });
    Ok(Metadata {
        capability: text("capability")?,
        change: text("change")?,
        datetime: text("datetime")?,
        at: text("at")?,
        from: text("from")?,
        until: text("until")?,
        length: text("length")?.and_then(|length| length.parse().ok()),
        media_type: text("type")?,
        digests: digests.collect(),
    })
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, ListError> {
    let broken = |reason: &dyn std::fmt::Display| ListError::Broken(reason.to_string());
    let found = start
        .try_get_attribute(name)
        .map_err(|error| broken(&error))?;
    let Some(found) = found else {
        return Ok(None);
    };
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    let value = value.map_err(|error| broken(&error))?;
    Ok(Some(value.trim().to_owned()).filter(|value| !value.is_empty()))
}

fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|it| it.eq_ignore_ascii_case("http") || it.eq_ignore_ascii_case("https"))
}

fn beginning(text: &str) -> String {
    text.chars().take(40).collect()
}

const RESOURCE_SYNC: &str = "http://www.openarchives.org/rs/terms/";
const DEEPEST: usize = 50;
/// Four times what the standards allow.
const MOST_ENTRIES: usize = 200_000;
const LONGEST_TEXT: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_list_is_a_sitemap_with_more_in_it() {
        let list = List::parse(
            br#"<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
              xmlns:rs="http://www.openarchives.org/rs/terms/">
            <rs:ln rel="up" href="http://a.example/caps.xml"/><rs:md capability="changelist" from="2024-01-01T00:00:00Z"/>
            <url><loc> http://a.example/x?a=1&amp;b=&#50; </loc><lastmod>2024-01-02</lastmod>
            <rs:md change="updated" datetime="2024-01-02T03:04:05Z" length="5" type="text/plain"
              hash="md5:5D41402ABC4B2A76B9719D911017C592 sha-256:00 crc32:7"/></url>
            <url><loc>ftp://a.example/y</loc></url></urlset>"#,
        )
        .unwrap();

        assert_eq!(list.metadata.capability.as_deref(), Some("changelist"));
        assert_eq!(list.up.as_deref(), Some("http://a.example/caps.xml"));
        assert_eq!((list.entries.len(), list.unusable), (1, 1));
        let entry = &list.entries[0];
        assert_eq!(entry.url, "http://a.example/x?a=1&b=2");
        assert!(entry.is_dated_by_day());
        assert_eq!(entry.metadata.change.as_deref(), Some("updated"));
        assert_eq!(entry.metadata.length, Some(5));
        let digests: Vec<_> = entry.metadata.digests.iter().map(|it| &*it.hex).collect();
        assert_eq!(digests, ["5d41402abc4b2a76b9719d911017c592", "00"]);
    }

    #[test]
    fn an_index_and_a_text_are_lists_too() {
        let index =
            "<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>";
        let index = List::parse(index.as_bytes()).unwrap();
        assert!(index.is_index);
        let text = List::parse(b"http://a.example/1\r\n\r\nhttp://a.example/2\n").unwrap();
        assert_eq!(text.entries.len(), 2);
    }

    #[test]
    fn what_is_no_list_is_refused_with_a_reason() {
        let long = format!("<urlset><url><loc>http://a/{}</loc>", "x".repeat(20_000));
        for (text, reason) in [
            ("<!DOCTYPE html><html><body/></html>", "web pages"),
            ("<html/>", "<html>"),
            ("<OAI-PMH/>", "<OAI-PMH>"),
            ("<urlset><url><loc>http://a/</loc>", "in the middle"),
            ("<urlset><url></urlset>", "at byte"),
            ("not found", "not found"),
            ("", "nothing"),
            (&*long, "16384 bytes"),
            ("<urlset><url><loc>&nbsp;</loc></url></urlset>", "entity"),
        ] {
            let error = List::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let deep = "<urlset>".to_owned() + &"<x>".repeat(100);
        assert!(List::parse(deep.as_bytes()).is_err());
        let many = format!(
            "<urlset>{}</urlset>",
            "<url><loc>http://a/</loc></url>".repeat(MOST_ENTRIES + 1)
        );
        let error = List::parse(many.as_bytes()).unwrap_err();
        assert_eq!(error, ListError::TooManyEntries(MOST_ENTRIES));
    }
}
