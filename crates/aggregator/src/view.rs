//! The view of one requester on a catalog at one moment, as the provider wants it.

use std::cell::Cell;
use std::io::Write;

use catalog::{ChangeQuery, Changed, Facet, ListPosition, RecordEntry, Subject};
use oai::format::{MetadataFormat, dublin_core};
use oai::xml::Writer;
use oai::{Datestamp, MetadataPrefix, Position, RecordHeader, Set, SetSpec};
use provider::{Error, ItemBatch, Listed, Portion, Range, Resource, View};

use crate::aggregator::{A_MOMENT, Aggregator, MOST_WAITS};
use crate::exposure::{Exposure, is_told, is_told_document};
use crate::identifier::Identifier;
use crate::known::unavailable;
use crate::parts::{OAI, Part, Parts};
use crate::{documents, provenance, resources, sets};

/// A view of a catalog.
pub(crate) struct CatalogView<'a> {
    pub(crate) aggregator: &'a Aggregator,
    pub(crate) exposure: Exposure<'a>,
    pub(crate) response_date: Cell<Datestamp>,
    pub(crate) earliest: Datestamp,
    /// Records that are not told because their files are missing.
    pub(crate) missing: Cell<u64>,
}

/// An item of the view.
#[derive(Debug)]
pub(crate) struct CatalogItem {
    pub(crate) header: RecordHeader,
    position: Position,
    pub(crate) subject: Subject,
    /// How long the XML of a record is that is told.
    length: u64,
    /// The formats of the item, where they were asked for.
    formats: Vec<String>,
}

impl Listed for CatalogItem {
    fn header(&self) -> &RecordHeader {
        &self.header
    }

    fn id(&self) -> i64 {
        self.position.id
    }

    fn position(&self) -> Position {
        self.position
    }
}

/// The bits of a position that hold the number of a row; the others hold its group within a second.
const ROW_BITS: u32 = 43;
/// The most rows that are looked at for a part of a list.
const MOST_ROWS: usize = 512;
/// The least: where only few of them are of the set, more are found at once.
const LEAST_ROWS: usize = 64;
/// The largest file of a record that is read; the harvester takes none that are larger.
const LONGEST: u64 = 64 << 20;
/// How many hosts are listed as sets. All of them can be asked for.
const MOST_HOSTS: usize = 10_000;

impl CatalogView<'_> {
    fn catalog(&self) -> &catalog::Catalog {
        self.aggregator.holdings.catalog()
    }

    fn wait<T>(&self, answer: impl Future<Output = Result<T, catalog::Error>>) -> Result<T, Error> {
        self.aggregator.holdings.wait(answer).map_err(unavailable)
    }

    /// Reads the repositories again if a row is of one that was added since they were read: a record that is left out
    /// would never come, for its datestamp is behind a harvester that asked now.
    fn know(&self, rows: &[Changed]) -> Result<(), Error> {
        let known = self.exposure.known();
        let is_new = |row: &Changed| match &row.subject {
            Subject::Record { record, .. } => !known.repositories.contains_key(&record.repository),
            _ => false,
        };
        if rows.iter().any(is_new) {
            let aggregator = self.aggregator;
            self.exposure
                .renew(aggregator.known.renew(&aggregator.holdings)?);
        }
        Ok(())
    }

    /// The item that a row is to the requester, if any.
    fn told(&self, changed: Changed) -> Option<CatalogItem> {
        let Changed { position, subject } = changed;
        if !self.exposure.shows(&subject) {
            return None;
        }
        let (mut length, mut deleted) = (0, true);
        match &subject {
            Subject::Record { record, .. } if is_told(record) => {
                let Some(found) = self.length(record) else {
                    self.missing.set(self.missing.get() + 1);
                    return None;
                };
                length = found;
                deleted = false;
            }
            Subject::Document(document) => deleted = !is_told_document(document),
            _ => {}
        }
        let header = RecordHeader {
            identifier: self.exposure.identifier(&subject),
            datestamp: Datestamp::from_seconds(position.at),
            set_specs: self.exposure.sets(&subject),
            deleted,
        };
        Some(CatalogItem {
            header,
            position: place(position),
            subject,
            length,
            formats: Vec::new(),
        })
    }

    /// How long the XML of a record is, if it is there and not longer than the harvester takes.
    fn length(&self, record: &RecordEntry) -> Option<u64> {
        let known = self.exposure.known();
        let known = known.repositories.get(&record.repository)?;
        let (prefix, file) = (&record.metadata_prefix, record.file.as_deref()?);
        let holdings = &self.aggregator.holdings;
        let length = holdings.record_length(&known.repository, prefix, file);
        length.ok().filter(|length| *length <= LONGEST)
    }

    /// The rows of an identifier that are told to the requester, in one format or all.
    fn rows(&self, identifier: &str, prefix: Option<&str>) -> Result<Vec<Changed>, Error> {
        let host = &self.aggregator.settings.repository_identifier;
        let (repository, plain) = match Identifier::parse(identifier, host) {
            Identifier::Document(number) => {
                let changed = self.wait(self.catalog().changed_document(number))?;
                return Ok(changed.into_iter().collect());
            }
            Identifier::Qualified {
                repository,
                identifier,
            } => (Some(repository), identifier),
            Identifier::Plain(plain) => (None, plain),
        };
        let mut rows = self.wait(self.catalog().with_identifier(plain, prefix))?;
        self.know(&rows)?;
        rows.retain(|row| {
            let of = match &row.subject {
                Subject::Record { record, .. } => record.repository,
                Subject::GoneRecord(gone) => gone.repository,
                _ => return false,
            };
            repository.is_none_or(|repository| repository == of)
                && self.exposure.identifier(&row.subject) == identifier
        });
        Ok(rows)
    }

    /// Lets the time of the answer catch up with a change of the last second: what is told of it now must not change under
    /// the same datestamp.
    fn catch_up(
        &self,
        rows: Vec<Changed>,
        again: impl Fn() -> Result<Vec<Changed>, Error>,
    ) -> Result<Vec<Changed>, Error> {
        let mut rows = rows;
        for _ in 0..MOST_WAITS {
            let is_over = |row: &Changed| row.position.at <= self.response_date.get().seconds();
            if rows.iter().all(is_over) {
                break;
            }
            std::thread::sleep(A_MOMENT);
            self.response_date.set(self.aggregator.moment(true)?.0);
            rows = again()?;
        }
        Ok(rows)
    }

    /// The formats that a row has records in.
    pub(crate) fn formats_of(&self, subject: &Subject) -> Vec<String> {
        match subject {
            Subject::Record { record, .. } => vec![record.metadata_prefix.clone()],
            Subject::GoneRecord(gone) => vec![gone.metadata_prefix.clone()],
            Subject::Document(_) | Subject::GoneDocument(_) => {
                documents::formats().map(|format| format.prefix).into()
            }
        }
    }

    fn query(&self, range: &Range, after: Option<Position>, limit: usize) -> Option<ChangeQuery> {
        let set = range.set.as_ref();
        let within = |root: &str| {
            set.is_none_or(|set| {
                set.as_str() == root || set.as_str().starts_with(&format!("{root}:"))
            })
        };
        let own = set.and_then(|set| {
            let mut sets = self.aggregator.settings.sets.iter();
            sets.find(|query| query.spec == *set)
        });
        let is_queries = set.is_some_and(|set| set.as_str() == sets::QUERIES);
        let records =
            within(sets::RECORDS) || is_queries || own.is_some_and(|query| query.is_of_records());
        let documents = within(sets::DOCUMENTS)
            || is_queries
            || own.is_some_and(|query| query.is_of_documents());
        let repository = match own.map(|query| query.repositories.as_slice()) {
            Some([one]) => self.exposure.known().number(one),
            _ => set.and_then(sets::repository_of),
        };
        let is_of_none = repository.is_none()
            && set.is_some_and(|set| set.as_str().starts_with(&format!("{}:", sets::RECORDS)));
        let records = records && !is_of_none;
        let prefix = &range.metadata_prefix;
        let query = ChangeQuery {
            metadata_prefix: (records && self.aggregator.settings.records).then(|| prefix.clone()),
            repository,
            documents: documents && self.exposure.shows_documents() && documents::have(prefix),
            from: range.from.seconds(),
            until: range.until.seconds(),
            after: after.map(position),
            limit,
            ..ChangeQuery::default()
        };
        (query.metadata_prefix.is_some() || query.documents).then_some(query)
    }

    fn write_record<W: Write>(
        &self,
        record: &RecordEntry,
        xml: &mut Writer<W>,
    ) -> Result<(), Error> {
        let known = self.exposure.known();
        let known = known.repositories.get(&record.repository);
        let file = known.zip(record.file.as_deref());
        let (known, file) = file.ok_or_else(|| unavailable("the record is gone"))?;
        let (holdings, prefix) = (&self.aggregator.holdings, &record.metadata_prefix);
        let bytes = holdings.read_record(&known.repository, prefix, file);
        let bytes = bytes.map_err(unavailable)?;
        let parts = Parts::find(&bytes).map_err(|error| {
            unavailable(format!(
                "the file of record {} is damaged ({error}); run: garner verify",
                record.id
            ))
        })?;
        match &parts.metadata {
            Some(part) => write_part(xml, "metadata", part, &bytes)?,
            None => xml.empty("metadata", &[])?,
        }
        let namespace = known.namespace(holdings, prefix)?;
        let nested = parts.provenance.as_ref();
        let nested = nested.map(|part| (part, &bytes[part.bytes.clone()]));
        provenance::write(xml, record, &known.repository, &namespace, nested)?;
        for part in &parts.about {
            write_part(xml, "about", part, &bytes)?;
        }
        Ok(())
    }
}

impl Drop for CatalogView<'_> {
    fn drop(&mut self) {
        if self.missing.get() > 0 {
            tracing::warn!(
                "{} records are not told to a harvester because their files are missing; garner verify names them, and a harvest brings them back",
                self.missing.get()
            );
        }
    }
}

impl View for CatalogView<'_> {
    type Item = CatalogItem;

    fn response_date(&self) -> Datestamp {
        self.response_date.get()
    }

    fn earliest_datestamp(&self) -> Result<Datestamp, Error> {
        Ok(self.earliest)
    }

    fn metadata_formats(&self) -> Vec<MetadataFormat> {
        // Every item is to have this one (OAI-PMH 2.0, 3.4), even before there is any.
        let mut formats = vec![dublin_core::format()];
        if self.exposure.shows_documents() {
            formats.extend(documents::formats());
        }
        let known = self.exposure.known();
        let held = known.formats.iter();
        formats.extend(
            held.filter(|_| self.aggregator.settings.records)
                .map(|held| MetadataFormat {
                    prefix: held.metadata_prefix.clone(),
                    schema: held.schema.clone(),
                    namespace: held.namespace.clone(),
                }),
        );
        let mut offered: Vec<MetadataFormat> = Vec::new();
        for format in formats {
            let is_known = offered.iter().any(|known| known.prefix == format.prefix);
            // Nobody could ask for a prefix that the protocol does not allow.
            let is_legal = MetadataPrefix::parse(&format.prefix).is_some();
            if !is_known && is_legal && self.exposure.offers(&format.prefix) {
                offered.push(format);
            }
        }
        offered
    }

    fn sets(&self) -> Result<Vec<Set>, Error> {
        let mut found: Vec<(SetSpec, String)> = Vec::new();
        let mut add = |spec: Option<SetSpec>, name: &str| {
            found.extend(spec.map(|spec| (spec, name.to_owned())));
        };
        let known = self.exposure.known();
        let mut numbers: Vec<_> = known
            .repositories
            .keys()
            .chain(known.former.keys())
            .copied()
            .filter(|number| self.exposure.shows_repository(*number))
            .collect();
        numbers.sort_unstable();
        if !numbers.is_empty() {
            add(SetSpec::parse(sets::RECORDS), "harvested records");
        }
        for number in numbers {
            let name = match (known.repositories.get(&number), known.former.get(&number)) {
                (Some(known), _) => {
                    let name = known.repository.identity.name.as_deref();
                    name.unwrap_or(&known.repository.base_url)
                }
                (None, Some((base_url, name))) => name.as_deref().unwrap_or(base_url),
                (None, None) => continue,
            };
            add(Some(sets::of_repository(number)), name);
            for set in self.wait(self.catalog().sets(number))? {
                let name = set.name.as_deref().unwrap_or(&set.set_spec);
                add(Some(sets::of_source(number, &set.set_spec)), name);
            }
        }
        if self.exposure.shows_documents() {
            add(
                SetSpec::parse(sets::DOCUMENTS),
                "documents of the collection",
            );
            for kind in self.wait(self.catalog().document_facets(Facet::Kind, MOST_HOSTS))? {
                add(Some(sets::of_kind(&kind)), &format!("documents: {kind}"));
            }
            for media_type in
                self.wait(self.catalog().document_facets(Facet::MediaType, MOST_HOSTS))?
            {
                add(Some(sets::of_media_type(&media_type)), &media_type);
            }
            for host in self.wait(self.catalog().document_facets(Facet::Host, MOST_HOSTS))? {
                let parts: Vec<_> = host.rsplit('.').collect();
                let host = parts.join(".");
                add(Some(sets::of_host(&host)), &host);
            }
        }
        let told =
            (self.aggregator.settings.sets.iter()).filter(|query| self.exposure.shows_query(query));
        for query in told {
            add(Some(query.spec.clone()), &query.name);
        }
        Ok(with_parents(found))
    }

    fn item(&self, identifier: &str) -> Result<Option<CatalogItem>, Error> {
        let rows = self.catch_up(self.rows(identifier, None)?, || self.rows(identifier, None))?;
        let mut formats: Vec<String> = Vec::new();
        let mut first = None;
        for row in rows {
            let of_row = self.formats_of(&row.subject);
            if let Some(item) = self.told(row) {
                formats.extend(
                    of_row
                        .into_iter()
                        .filter(|prefix| self.exposure.offers(prefix)),
                );
                first = first.or(Some(item));
            }
        }
        Ok(first.map(|item: CatalogItem| CatalogItem { formats, ..item }))
    }

    fn item_in(&self, identifier: &str, prefix: &str) -> Result<Option<CatalogItem>, Error> {
        if !self.exposure.offers(prefix) {
            return Ok(None);
        }
        let rows = || self.rows(identifier, Some(prefix));
        let mut rows = self.catch_up(rows()?, rows)?.into_iter();
        let row = rows.find(|row| {
            self.formats_of(&row.subject)
                .iter()
                .any(|one| one == prefix)
        });
        let item = row.and_then(|row| self.told(row));
        Ok(item.map(|item| CatalogItem {
            formats: vec![prefix.to_owned()],
            ..item
        }))
    }

    fn count(&self, _range: &Range, _prefix: &str) -> Result<Option<u64>, Error> {
        // Only reading all of them would tell.
        Ok(None)
    }

    fn list(
        &self,
        range: &Range,
        after: Option<Position>,
        portion: Portion<'_>,
    ) -> Result<ItemBatch<CatalogItem>, Error> {
        let limit = portion.at_most.clamp(LEAST_ROWS, MOST_ROWS);
        let Some(query) = self.query(range, after, limit) else {
            return Ok(ItemBatch {
                items: Vec::new(),
                behind: None,
                exhausted: true,
                lookups: 0,
            });
        };
        let page = self.wait(self.catalog().changes(&query))?;
        self.know(&page.rows)?;
        let behind = page.rows.last().map(|row| place(row.position));
        let is_in = |item: &CatalogItem| match &range.set {
            Some(set) => item.header.set_specs.iter().any(|spec| set.contains(spec)),
            None => true,
        };
        let items = page.rows.into_iter().filter_map(|row| self.told(row));
        Ok(ItemBatch {
            items: items.filter(is_in).collect(),
            behind,
            exhausted: page.exhausted,
            lookups: 0,
        })
    }

    fn resource(&self, item: &CatalogItem) -> Result<Option<Resource>, Error> {
        Ok(resources::of(self, item))
    }

    fn list_resources(
        &self,
        range: &Range,
        after: Option<Position>,
        at_most: usize,
    ) -> Result<ItemBatch<CatalogItem>, Error> {
        let query = ChangeQuery {
            every_format: self.aggregator.settings.records,
            documents: self.exposure.gives_files(),
            from: range.from.seconds(),
            until: range.until.seconds(),
            after: after.map(position),
            limit: at_most,
            ..ChangeQuery::default()
        };
        let page = self.wait(self.catalog().changes(&query))?;
        self.know(&page.rows)?;
        Ok(ItemBatch {
            behind: page.rows.last().map(|row| place(row.position)),
            items: page
                .rows
                .into_iter()
                .filter_map(|row| self.told(row))
                .collect(),
            exhausted: page.exhausted,
            lookups: 0,
        })
    }

    fn has_format(&self, item: &CatalogItem, prefix: &str) -> bool {
        // Rows of lists were asked for in their format.
        item.formats.is_empty() || item.formats.iter().any(|format| format == prefix)
    }

    fn metadata_size(&self, item: &CatalogItem, prefix: &str) -> u64 {
        match &item.subject {
            Subject::Document(document) => {
                documents::size(document, prefix, &self.aggregator.settings.by_value)
            }
            _ => item.length + 900,
        }
    }

    fn write_metadata<W: Write>(
        &self,
        item: &CatalogItem,
        prefix: &str,
        xml: &mut Writer<W>,
    ) -> Result<(), Error> {
        let Subject::Document(document) = &item.subject else {
            return Ok(());
        };
        let header = &item.header;
        let is_by_value = prefix != dublin_core::PREFIX
            && documents::is_by_value(document, &self.aggregator.settings.by_value);
        let bytes = match is_by_value {
            true => documents::open(&*self.aggregator.files()?, document)?,
            false => None,
        };
        documents::write(
            xml,
            document,
            &header.identifier,
            header.datestamp,
            prefix,
            bytes,
        )
    }

    fn write_body<W: Write>(
        &self,
        item: &CatalogItem,
        prefix: &str,
        xml: &mut Writer<W>,
    ) -> Result<(), Error> {
        if let (Subject::Record { record, .. }, false) = (&item.subject, item.header.deleted) {
            return self.write_record(record, xml);
        }
        xml.start("metadata", &[])?;
        self.write_metadata(item, prefix, xml)?;
        Ok(xml.end("metadata")?)
    }
}

/// A part of a file in an element of the answer. It stays as it is: the namespaces around it are declared again by the
/// element, and if its default namespace is another than that of the answer, the element has a prefix.
fn write_part<W: Write>(
    xml: &mut Writer<W>,
    name: &str,
    part: &Part,
    bytes: &[u8],
) -> Result<(), Error> {
    let declarations = part.declarations();
    let default = part.default_namespace();
    let (begin, end) = match default == OAI {
        true => (format!("<{name}{declarations}>"), format!("</{name}>")),
        false => {
            let prefix = free_prefix(part);
            (
                format!(
                    "<{prefix}:{name} xmlns:{prefix}=\"{OAI}\" xmlns=\"{default}\"{declarations}>"
                ),
                format!("</{prefix}:{name}>"),
            )
        }
    };
    xml.raw(begin.as_bytes())?;
    xml.raw(&bytes[part.bytes.clone()])?;
    Ok(xml.raw(end.as_bytes())?)
}

/// A prefix that a part does not use.
fn free_prefix(part: &Part) -> String {
    let is_used = |prefix: &String| part.namespaces.iter().any(|(used, _)| used == prefix);
    let mut prefixes = (0..).map(|number| match number {
        0 => "oai".to_owned(),
        number => format!("oai{number}"),
    });
    prefixes.find(|prefix| !is_used(prefix)).unwrap_or_default()
}

/// The sets in their order, each once, with those above them.
fn with_parents(found: Vec<(SetSpec, String)>) -> Vec<Set> {
    let mut sets = std::collections::BTreeMap::<SetSpec, Option<String>>::new();
    for (spec, name) in found {
        let mut above = spec.parent();
        while let Some(parent) = above {
            above = parent.parent();
            sets.entry(parent).or_default();
        }
        let known = sets.entry(spec).or_default();
        *known = known.take().or(Some(name));
    }
    let set = |(spec, name): (SetSpec, Option<String>)| Set {
        name: name.unwrap_or_else(|| spec.as_str().to_owned()),
        spec,
    };
    sets.into_iter().map(set).collect()
}

fn place(position: ListPosition) -> Position {
    Position {
        datestamp: Datestamp::from_seconds(position.at),
        id: (position.rank << ROW_BITS) | (position.id & ((1 << ROW_BITS) - 1)),
    }
}

fn position(place: Position) -> ListPosition {
    ListPosition {
        at: place.datestamp.seconds(),
        rank: place.id >> ROW_BITS,
        id: place.id & ((1 << ROW_BITS) - 1),
    }
}
