//! The documents themselves, streamed.

use std::io::Write;

use oai::xml::Writer;
use oai::{Datestamp, Position, format::dublin_core};

use super::cut::{cuts, walk};
use super::entry::{size_of_entry, write};
use super::{Most, Part, SyncDocument, SyncKind};
use crate::view::{Listed, Range, View};
use crate::{Error, Outcome, Provider};

impl Provider {
    /// Writes a document of ResourceSync or a sitemap from a view. `directory` is the URL of the directory in which the
    /// parts of a sitemap lie, with a slash at the end.
    ///
    /// As with an answer to a verb, a failure may leave the output incomplete; the caller must then break the connection.
    pub fn synchronize<V: View, W: Write>(
        &self,
        view: &V,
        document: &SyncDocument,
        directory: &str,
        out: W,
    ) -> Result<Outcome, Error> {
        self.synchronize_within(view, document, directory, Most::OF_A_DOCUMENT, out)
    }

    pub(super) fn synchronize_within<V: View, W: Write>(
        &self,
        view: &V,
        document: &SyncDocument,
        directory: &str,
        most: Most,
        out: W,
    ) -> Result<Outcome, Error> {
        let mut xml = Writer::new(out);
        xml.raw(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
        let records = match document.kind {
            SyncKind::Description => self.description(&mut xml)?,
            SyncKind::CapabilityList => self.capability_list(&mut xml)?,
            kind => {
                let list = List {
                    provider: self,
                    view,
                    kind,
                    directory,
                    most,
                };
                match document.part {
                    Some(part) => list.part(&mut xml, part, true)?,
                    None => list.whole(&mut xml)?,
                }
            }
        };
        xml.newline()?;
        Ok(Outcome {
            records,
            ..Outcome::default()
        })
    }

    /// The URL of a document below the repository.
    fn url(&self, kind: SyncKind) -> String {
        format!("{}/{}", self.base_url, SyncDocument::whole(kind).path())
    }

    fn description<W: Write>(&self, xml: &mut Writer<W>) -> Result<u64, Error> {
        let identify = format!("{}?verb=Identify", self.base_url);
        xml.start("urlset", &NAMESPACES)?;
        xml.newline()?;
        link(xml, "describedby", &identify)?;
        let capability = SyncKind::Description.name();
        xml.empty("rs:md", &[("capability", capability)])?;
        xml.newline()?;
        self.name(xml, SyncKind::CapabilityList)?;
        xml.end("urlset")?;
        Ok(1)
    }

    fn capability_list<W: Write>(&self, xml: &mut Writer<W>) -> Result<u64, Error> {
        xml.start("urlset", &NAMESPACES)?;
        xml.newline()?;
        link(xml, "up", &self.url(SyncKind::Description))?;
        let capability = SyncKind::CapabilityList.name();
        xml.empty("rs:md", &[("capability", capability)])?;
        xml.newline()?;
        self.name(xml, SyncKind::ResourceList)?;
        self.name(xml, SyncKind::ChangeList)?;
        xml.end("urlset")?;
        Ok(2)
    }

    /// The entry of another document.
    fn name<W: Write>(&self, xml: &mut Writer<W>, kind: SyncKind) -> Result<(), Error> {
        xml.start("url", &[])?;
        xml.element("loc", &[], &self.url(kind))?;
        xml.empty("rs:md", &[("capability", kind.name())])?;
        xml.end("url")?;
        Ok(xml.newline()?)
    }
}

/// A list of resources.
struct List<'a, V> {
    provider: &'a Provider,
    view: &'a V,
    kind: SyncKind,
    directory: &'a str,
    most: Most,
}

impl<V: View> List<'_, V> {
    /// The list in one document, or the index of its parts.
    fn whole<W: Write>(&self, xml: &mut Writer<W>) -> Result<u64, Error> {
        let at = self.view.response_date();
        let range = self.range()?;
        let cuts = match range.from > range.until {
            true => Vec::new(),
            false => cuts(self.view, &range, self.has_deleted(), self.most)?,
        };
        let mut parts = Vec::new();
        let mut after = None;
        for until in cuts.into_iter().map(Some).chain([None]) {
            parts.push(Part { at, after, until });
            after = until;
        }
        match parts[..] {
            [only] => self.part(xml, only, false),
            _ => self.index(xml, &parts),
        }
    }

    fn index<W: Write>(&self, xml: &mut Writer<W>, parts: &[Part]) -> Result<u64, Error> {
        let since = self.since()?;
        xml.start("sitemapindex", self.namespaces())?;
        xml.newline()?;
        if let [first, ..] = parts {
            let whole = Part {
                at: first.at,
                after: None,
                until: None,
            };
            self.head(xml, whole, since, false)?;
        }
        for part in parts {
            xml.start("sitemap", &[])?;
            xml.element("loc", &[], &self.url_of(*part))?;
            match self.kind {
                SyncKind::ResourceList => {
                    xml.empty("rs:md", &[("at", &part.at.to_string())])?;
                }
                SyncKind::ChangeList => {
                    let times = period(*part, since);
                    let times: Vec<_> = times.iter().map(|(n, t)| (*n, t.as_str())).collect();
                    xml.empty("rs:md", &times)?;
                }
                _ => {}
            }
            xml.end("sitemap")?;
            xml.newline()?;
        }
        xml.end("sitemapindex")?;
        Ok(parts.len() as u64)
    }

    /// One part, which is the whole list where nothing is cut.
    fn part<W: Write>(
        &self,
        xml: &mut Writer<W>,
        part: Part,
        is_indexed: bool,
    ) -> Result<u64, Error> {
        let since = self.since()?;
        let mut range = self.range()?;
        range.from = range
            .from
            .max(part.after.map_or(range.from, |p| p.datestamp));
        range.until = range
            .until
            .min(part.until.map_or(range.until, |p| p.datestamp));
        xml.start("urlset", self.namespaces())?;
        xml.newline()?;
        self.head(xml, part, since, is_indexed)?;
        let (mut entries, mut bytes) = (0, 0);
        walk(self.view, &range, part.after, |item| {
            if part
                .until
                .is_some_and(|until| is_behind(item.position(), until))
            {
                return Ok(false);
            }
            let header = item.header();
            if header.deleted && !self.has_deleted() {
                return Ok(true);
            }
            let Some(resource) = self.view.resource(&item)? else {
                return Ok(true);
            };
            if self.kind == SyncKind::Sitemap && resource.url.len() >= LONGEST_URL {
                return Ok(true);
            }
            bytes += size_of_entry(resource.url.len() as u64);
            // The last part may have grown since it was cut. What came after that is in the change list.
            if entries == self.most.entries || (entries > 0 && bytes > self.most.bytes) {
                return Ok(false);
            }
            entries += 1;
            write(xml, self.kind, &resource, header.datestamp, header.deleted)?;
            Ok(true)
        })?;
        xml.end("urlset")?;
        Ok(entries)
    }

    /// The head of a ResourceSync list, before its entries.
    fn head<W: Write>(
        &self,
        xml: &mut Writer<W>,
        part: Part,
        since: Datestamp,
        is_indexed: bool,
    ) -> Result<(), Error> {
        let times = match self.kind {
            SyncKind::ResourceList => vec![("at", part.at.to_string())],
            SyncKind::ChangeList => period(part, since),
            _ => return Ok(()),
        };
        link(xml, "up", &self.provider.url(SyncKind::CapabilityList))?;
        if is_indexed {
            link(xml, "index", &self.provider.url(self.kind))?;
        }
        let mut facts = vec![("capability", self.kind.name())];
        facts.extend(times.iter().map(|(name, time)| (*name, time.as_str())));
        xml.empty("rs:md", &facts)?;
        Ok(xml.newline()?)
    }

    fn range(&self) -> Result<Range, Error> {
        let from = match self.kind {
            SyncKind::ChangeList => self.since()?,
            _ => Datestamp::MIN,
        };
        Ok(Range {
            set: None,
            from,
            until: self.view.response_date(),
            metadata_prefix: dublin_core::PREFIX.to_owned(),
        })
    }

    /// The time from which on changes are told.
    fn since(&self) -> Result<Datestamp, Error> {
        match self.kind {
            SyncKind::ChangeList => self.view.changes_since(),
            _ => Ok(Datestamp::MIN),
        }
    }

    fn has_deleted(&self) -> bool {
        self.kind == SyncKind::ChangeList
    }

    fn url_of(&self, part: Part) -> String {
        let document = SyncDocument {
            kind: self.kind,
            part: Some(part),
        };
        match self.kind {
            SyncKind::Sitemap => format!("{}{}", self.directory, document.path()),
            _ => format!("{}/{}", self.provider.base_url, document.path()),
        }
    }

    fn namespaces(&self) -> &'static [(&'static str, &'static str)] {
        match self.kind {
            SyncKind::Sitemap => &NAMESPACES[..1],
            _ => &NAMESPACES,
        }
    }
}

/// The time that a part of a change list covers; the last part is open.
fn period(part: Part, since: Datestamp) -> Vec<(&'static str, String)> {
    let from = part.after.map_or(since, |after| after.datestamp);
    let mut times = vec![("from", from.to_string())];
    times.extend(
        part.until
            .map(|until| ("until", until.datestamp.to_string())),
    );
    times
}

fn is_behind(position: Position, other: Position) -> bool {
    (position.datestamp, position.id) > (other.datestamp, other.id)
}

fn link<W: Write>(xml: &mut Writer<W>, relation: &str, url: &str) -> Result<(), Error> {
    xml.empty("rs:ln", &[("rel", relation), ("href", url)])?;
    Ok(xml.newline()?)
}

/// A sitemap with a longer URL is not valid.
const LONGEST_URL: usize = 2048;

static NAMESPACES: [(&str, &str); 2] = [
    ("xmlns", "http://www.sitemaps.org/schemas/sitemap/0.9"),
    ("xmlns:rs", "http://www.openarchives.org/rs/terms/"),
];
