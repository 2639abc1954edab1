//! The view of one requester on records in files, as the provider wants it.

use std::cell::RefCell;
use std::io::Write;

use oai::format::{MetadataFormat, dublin_core};
use oai::xml::Writer;
use oai::{Datestamp, Position, RecordHeader, Set, SetSpec};
use provider::resource_sync::Most;
use provider::{Error, ItemBatch, Listed, Obtained, Portion, Range, Resource, View};

use super::Formats;
use super::formats::{media_type, prefix_of};
use crate::{SiteItem, SiteView};

/// A view of records in files.
#[derive(Debug)]
pub struct RecordsView<'a> {
    site: SiteView<'a>,
    formats: &'a Formats,
    base_url: &'a str,
    /// The element that is written next, with the number of its item.
    element: RefCell<Option<(i64, String)>>,
}

/// A record.
#[derive(Debug)]
pub struct RecordItem {
    inner: SiteItem,
    header: RecordHeader,
    /// The formats that it is asked for in.
    prefixes: Vec<String>,
}

impl Listed for RecordItem {
    fn header(&self) -> &RecordHeader {
        &self.header
    }

    fn id(&self) -> i64 {
        self.inner.id()
    }
}

impl<'a> RecordsView<'a> {
    /// The view of the same requester on the records that the files of a site are.
    pub fn new(site: SiteView<'a>, formats: &'a Formats, base_url: &'a str) -> Self {
        Self {
            site,
            formats,
            base_url,
            element: RefCell::default(),
        }
    }

    /// The record of a file. In a format that the file had before it is a deleted one.
    fn record(&self, inner: SiteItem, prefix: &str) -> RecordItem {
        let now = self.prefix_of(&inner);
        let header = RecordHeader {
            identifier: self.formats.identifier_of(&inner.row.path),
            datestamp: inner.header.datestamp,
            set_specs: Vec::new(),
            deleted: inner.header.deleted || now != prefix,
        };
        RecordItem {
            inner,
            header,
            prefixes: vec![prefix.to_owned()],
        }
    }

    /// The format of a file.
    fn prefix_of(&self, item: &SiteItem) -> String {
        self.named(item.row.media_type).unwrap_or_default()
    }

    fn named(&self, media_type: i64) -> Option<String> {
        let types = self.site.site.index.media_types();
        let entry = types.get(media_type)?;
        prefix_of(&entry.name).map(str::to_owned)
    }

    /// The formats that a file has or had.
    fn prefixes_of(&self, item: &SiteItem) -> Result<Vec<String>, Error> {
        let former = self.site.reader.former_types(item.row.id)?;
        let all = std::iter::once(item.row.media_type).chain(former);
        let mut prefixes: Vec<_> = all.filter_map(|id| self.named(id)).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        Ok(prefixes)
    }

    /// The files of an identifier.
    fn files(&self, identifier: &str) -> Result<Vec<SiteItem>, Error> {
        let paths = self.formats.paths_of(identifier);
        let urls = paths.iter().map(|path| self.site.addresses.url_of(path));
        let items = urls.map(|url| self.site.item(&url));
        items.filter_map(Result::transpose).collect()
    }

    fn batch(&self, batch: ItemBatch<SiteItem>, prefix: &str) -> ItemBatch<RecordItem> {
        let record = |inner| self.record(inner, prefix);
        ItemBatch {
            items: batch.items.into_iter().map(record).collect(),
            behind: batch.behind,
            exhausted: batch.exhausted,
            lookups: batch.lookups,
        }
    }

    /// The same range among the files of a format.
    fn range(&self, range: &Range, prefix: &str) -> Range {
        Range {
            set: Some(SetSpec::of_media_type(&media_type(prefix))),
            ..range.clone()
        }
    }
}

impl View for RecordsView<'_> {
    type Item = RecordItem;

    fn response_date(&self) -> Datestamp {
        self.site.response_date()
    }

    fn earliest_datestamp(&self) -> Result<Datestamp, Error> {
        self.site.earliest_datestamp()
    }

    fn metadata_formats(&self) -> Vec<MetadataFormat> {
        let types = self.site.site.index.media_types();
        let is_held = |prefix: &str| types.names().any(|name| prefix_of(name) == Some(prefix));
        let mut formats = self.formats.told();
        // Every repository offers this one (OAI-PMH 2.0, 3.4).
        formats.retain(|format| format.prefix == dublin_core::PREFIX || is_held(&format.prefix));
        formats
    }

    fn sets(&self) -> Result<Vec<Set>, Error> {
        Ok(Vec::new())
    }

    fn item(&self, identifier: &str) -> Result<Option<RecordItem>, Error> {
        let mut found: Option<RecordItem> = None;
        for inner in self.files(identifier)? {
            let prefixes = self.prefixes_of(&inner)?;
            let own = self.prefix_of(&inner);
            let record = found.get_or_insert_with(|| RecordItem {
                prefixes: Vec::new(),
                ..self.record(inner, &own)
            });
            record.prefixes.extend(prefixes);
        }
        Ok(found)
    }

    fn item_in(&self, identifier: &str, prefix: &str) -> Result<Option<RecordItem>, Error> {
        let mut former = None;
        for inner in self.files(identifier)? {
            if self.prefix_of(&inner) == prefix {
                return Ok(Some(self.record(inner, prefix)));
            }
            if self
                .prefixes_of(&inner)?
                .iter()
                .any(|known| known == prefix)
            {
                former = Some(self.record(inner, prefix));
            }
        }
        Ok(former)
    }

    fn count(&self, range: &Range, prefix: &str) -> Result<Option<u64>, Error> {
        match range.set {
            Some(_) => Ok(None),
            None => self.site.count(&self.range(range, prefix), prefix),
        }
    }

    fn list(
        &self,
        range: &Range,
        after: Option<Position>,
        portion: Portion<'_>,
    ) -> Result<ItemBatch<RecordItem>, Error> {
        // There are no sets.
        if range.set.is_some() {
            return Ok(ItemBatch {
                items: Vec::new(),
                behind: None,
                exhausted: true,
                lookups: 0,
            });
        }
        let prefix = range.metadata_prefix.as_str();
        let batch = self.site.list(&self.range(range, prefix), after, portion)?;
        Ok(self.batch(batch, prefix))
    }

    fn has_format(&self, item: &RecordItem, metadata_prefix: &str) -> bool {
        item.prefixes.iter().any(|prefix| prefix == metadata_prefix)
    }

    fn obtain(&self, item: &RecordItem, metadata_prefix: &str) -> Result<Obtained, Error> {
        let row = &item.inner.row;
        let opened = self.site.site.open_file(&row.path, &self.site.requester);
        let Ok(opened) = opened else {
            return Ok(Obtained::Gone);
        };
        let record = self.formats.record(&row.path, opened.file, metadata_prefix);
        match record {
            Ok(Some(element)) => {
                self.element.replace(Some((row.id, element)));
                Ok(Obtained::Ready)
            }
            Ok(None) => Ok(Obtained::Gone),
            Err(error) => Err(Error::Unavailable(format!(
                "`{}` cannot be read: {error}",
                row.path.display()
            ))),
        }
    }

    fn metadata_size(&self, item: &RecordItem, _metadata_prefix: &str) -> u64 {
        item.inner.row.size
    }

    fn write_metadata<W: Write>(
        &self,
        item: &RecordItem,
        _metadata_prefix: &str,
        xml: &mut Writer<W>,
    ) -> Result<(), Error> {
        let element = self.element.take();
        let element = element.filter(|(id, _)| *id == item.inner.row.id);
        let Some((_, element)) = element else {
            let message = format!("the record {} was not read", item.header.identifier);
            return Err(Error::Unavailable(message));
        };
        Ok(xml.raw(element.as_bytes())?)
    }

    fn write_about<W: Write>(&self, item: &RecordItem, xml: &mut Writer<W>) -> Result<(), Error> {
        self.site.write_about(&item.inner, xml)
    }

    fn resource(&self, item: &RecordItem) -> Result<Option<Resource>, Error> {
        let prefix = item.prefixes.first().map_or("", String::as_str);
        let identifier = &item.header.identifier;
        Ok(Some(Resource {
            url: provider::record_url(self.base_url, prefix, identifier),
            modified: Some(item.header.datestamp),
            media_type: Some("text/xml".to_owned()),
            is_new: item.inner.row.is_new,
            ..Resource::default()
        }))
    }

    fn changes_since(&self) -> Result<Datestamp, Error> {
        self.site.changes_since()
    }

    fn list_resources(
        &self,
        range: &Range,
        after: Option<Position>,
        at_most: usize,
    ) -> Result<ItemBatch<RecordItem>, Error> {
        let batch = self.site.list_resources(range, after, at_most)?;
        let mut items = Vec::new();
        for inner in batch.items {
            let own = self.prefix_of(&inner);
            let mut former = self.prefixes_of(&inner)?;
            former.retain(|prefix| *prefix != own);
            // In the formats that the file had before, its records are gone.
            let gone = former.iter();
            items.extend(gone.map(|prefix| self.record(inner.bare(), prefix)));
            items.push(self.record(inner, &own));
        }
        Ok(ItemBatch {
            items,
            behind: batch.behind,
            exhausted: batch.exhausted,
            lookups: batch.lookups,
        })
    }

    fn cuts(
        &self,
        _range: &Range,
        _with_deleted: bool,
        _most: Most,
    ) -> Result<Option<Vec<Position>>, Error> {
        // The URLs are not those of files.
        Ok(None)
    }
}
