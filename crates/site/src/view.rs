//! The view of one requester on a site at one moment, as the provider wants it.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use oai::format::{MetadataFormat, didl, dublin_core, http_header, rights};
use oai::xml::Writer;
use oai::{Datestamp, Position, RecordHeader, Set, SetSpec};
use provider::resource_sync::Most;
use provider::{ItemBatch, Listed, Obtained, Portion, Range, Resource as Listable, View, assets};
use sha2::{Digest, Sha256};

use crate::config::RightsConfig;
use crate::follow::sweep::Comparison;
use crate::index::findings::Findings;
use crate::index::notes::Notes;
use crate::index::{Reader, Row, State, Visibility};
use crate::plugin::Plugin;
use crate::record::helpers::Assistance;
use crate::record::{Prepared, Record, Resource};
use crate::{Addresses, Candidate, DynamicPolicy, Error, Look, Origin, Requester, Served, Site};

/// A view of a site.
#[derive(Debug)]
pub struct SiteView<'a> {
    pub(crate) site: &'a Site,
    pub(crate) requester: Requester,
    /// The origin that says what this requester may see, where that is not the site itself.
    pub(crate) origin: Option<&'a dyn Origin>,
    /// The offer of programs to this requester.
    pub(crate) programs: DynamicPolicy,
    pub(crate) addresses: Addresses,
    pub(crate) reader: Reader<'a>,
    pub(crate) findings: Findings,
    pub(crate) assistance: Assistance<'a>,
    pub(crate) prepared: Prepared,
    /// The answer that was fetched for the record that is written next.
    pub(crate) obtained: RefCell<Option<(i64, Resource)>>,
    /// How many programs that had failed were tried again.
    pub(crate) retries: Cell<u32>,
    visibility: Visibility,
    response_date: Datestamp,
}

/// An item of a view.
#[derive(Debug)]
pub struct SiteItem {
    pub(crate) row: Row,
    pub(crate) header: RecordHeader,
    /// The origin's word on it, where there is one.
    pub(crate) served: Option<Served>,
    /// The policy for it if a server runs or changes the file; none if it is sent as it is.
    pub(crate) dynamic: Option<DynamicPolicy>,
}

impl SiteItem {
    /// The same item as the index knows it.
    pub(crate) fn bare(&self) -> Self {
        Self {
            row: self.row.clone(),
            header: self.header.clone(),
            served: None,
            dynamic: None,
        }
    }
}

impl Listed for SiteItem {
    fn header(&self) -> &RecordHeader {
        &self.header
    }

    fn id(&self) -> i64 {
        self.row.id
    }
}

impl<'a> SiteView<'a> {
    pub(crate) fn new(
        site: &'a Site,
        requester: Requester,
        origin: Option<&'a dyn Origin>,
        addresses: Addresses,
    ) -> Result<Self, Error> {
        // Before anything is decided: who is let in later finds everything stamped at this moment or later.
        let response_date = Datestamp::from_seconds(moment(site)?);
        let offer = &site.config.offer;
        let programs = offer.policy(site.access.is_source_user(&requester));
        let visibility = match origin {
            Some(_) => Visibility {
                undecided: true,
                ..Visibility::default()
            },
            None => Visibility {
                hides_programs: offer.dynamic == DynamicPolicy::Source
                    && programs == DynamicPolicy::Off,
                ..site.access.visibility(&requester)
            },
        };
        Ok(Self {
            response_date,
            reader: site.index.reader()?,
            findings: Findings::default(),
            assistance: Assistance::new(&site.helpers),
            prepared: Prepared::default(),
            obtained: RefCell::default(),
            retries: Cell::default(),
            site,
            requester,
            origin,
            programs,
            addresses,
            visibility,
        })
    }

    /// The items of rows, without those that the origin would not show to this requester; with the number of
    /// rows it was asked about.
    fn items(&self, rows: Vec<Row>, notes: &mut Notes) -> Result<(Vec<SiteItem>, u64), Error> {
        let Some(origin) = self.origin else {
            let items = rows.into_iter().map(|row| self.item_of(row, None));
            return Ok((items.collect::<Result<_, _>>()?, 0));
        };
        let there = rows.iter().filter(|row| row.state != State::Deleted);
        let candidates: Vec<_> = there.map(candidate).collect();
        // A part of nothing but tombstones is no question.
        let looks = match candidates.is_empty() {
            true => Vec::new(),
            false => origin
                .look(&self.requester, &candidates)
                .map_err(Error::Origin)?,
        };
        let looks = self.with_answers(origin, &rows, looks)?;
        let looks = self.without_hidden_programs(&rows, looks);
        self.settle_doubts(origin, &rows, &looks);
        let mut looks = looks.into_iter();
        let mut items = Vec::new();
        for row in rows {
            let look = match row.state {
                State::Deleted => None,
                _ => looks.next(),
            };
            if let Some(look) = &look {
                notes.add(&self.site.index, origin, &row, look);
            }
            items.extend(self.item_by_look(row, look)?);
        }
        Ok((items, candidates.len() as u64))
    }

    /// The looks at rows, where programs that are for named users only are not served to anybody else.
    fn without_hidden_programs(&self, rows: &[Row], looks: Vec<Look>) -> Vec<Look> {
        if self.programs != DynamicPolicy::Off {
            return looks;
        }
        let there = rows.iter().filter(|row| row.state != State::Deleted);
        let hide = |(row, look): (&Row, Look)| match row.dynamic {
            true => Look::Refused,
            false => look,
        };
        there.zip(looks).map(hide).collect()
    }

    /// Where what this requester sees is not what all were last seen to see, it is asked at once what all see now:
    /// what turned and turns back before anybody looks again would else never be told.
    fn settle_doubts(&self, origin: &dyn Origin, rows: &[Row], looks: &[Look]) {
        if !origin.fetches_files() || !origin.can_ask_as_nobody() {
            return;
        }
        let there = rows.iter().filter(|row| row.state != State::Deleted);
        let doubtful = there.zip(looks).filter(|(row, look)| {
            let served = matches!(look, Look::Served(_));
            row.state == State::Live && row.shown.is_some_and(|shown| shown != served)
        });
        let doubtful: Vec<_> = doubtful.map(|(row, _)| row.clone()).collect();
        if doubtful.is_empty() || self.site.index.is_superseded() {
            return;
        }
        let comparison = Comparison {
            ground: &self.site.ground,
            index: &self.site.index,
            origin,
            restamp_dynamic: false,
        };
        // An index that cannot be written can still be read.
        if let Err(error) = comparison.compare(&doubtful) {
            tracing::warn!("{error}");
        }
    }

    /// Keeps what was found out so far.
    pub(crate) fn keep_findings(&self) {
        self.findings
            .keep(&self.site.index, &self.site.findings_failing);
    }

    fn keep(&self, notes: &Notes) {
        if notes.is_empty() {
            return;
        }
        notes.keep(&self.site.index, self.who(), &self.site.notes_failing);
    }

    fn item_by_look(&self, row: Row, look: Option<Look>) -> Result<Option<SiteItem>, Error> {
        match (row.state, look) {
            (State::Live, Some(Look::Served(served))) => self.item_of(row, Some(served)).map(Some),
            // Shown to all once: no secret, so that even a refusal may be told as a deletion.
            (State::Withdrawn, Some(Look::Refused | Look::NotServed(_))) => {
                self.item_of(row, None).map(Some)
            }
            // So is what somebody was given once and is refused now.
            (State::Live, Some(Look::Refused | Look::NotServed(_)))
                if row.shown != Some(true)
                    && self.origin.is_some_and(Origin::fetches_files)
                    && self.reader.was_seen_by(row.id, self.who())? =>
            {
                let mut item = self.item_of(row, None)?;
                item.header.deleted = true;
                Ok(Some(item))
            }
            // That it was there is told to those who knew.
            (State::Deleted, _)
                if row.shown == Some(true) || self.reader.was_seen_by(row.id, self.who())? =>
            {
                self.item_of(row, None).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The number of the requester: by credentials, or by address where there are none. A key that was shown is part of
    /// it, so that nobody without it is told what it opened; a requester with a password needs no other name.
    pub(crate) fn who(&self) -> i64 {
        let requester = &self.requester;
        let mut name = match (&requester.authorization, &requester.cookie) {
            (None, None) => requester.address.to_string(),
            (authorization, cookie) => format!("{authorization:?} {cookie:?}"),
        };
        if requester.authorization.is_none() && !requester.keys.is_empty() {
            name.push_str(&format!(" {:?}", requester.keys));
        }
        let digest = Sha256::new()
            .chain_update(self.site.index.secret())
            .chain_update(name)
            .finalize();
        let mut number = [0; 8];
        number.copy_from_slice(&digest[..8]);
        i64::from_le_bytes(number)
    }

    fn item_of(&self, row: Row, served: Option<Served>) -> Result<SiteItem, Error> {
        let deleted = row.state != State::Live;
        let types = self.site.index.media_types();
        let mut media_types = vec![row.media_type];
        if deleted {
            media_types.extend(self.reader.former_types(row.id)?);
        }
        let sets = media_types.iter().filter_map(|id| types.get(*id));
        let mut set_specs: Vec<_> = sets.filter_map(|entry| entry.set_spec.clone()).collect();
        set_specs.extend(self.site.own_sets.of(&row.path).cloned());
        let header = RecordHeader {
            identifier: self.addresses.url_of(&row.path),
            datestamp: Datestamp::from_seconds(row.datestamp),
            set_specs,
            deleted,
        };
        let told = served.as_ref().and_then(|served| served.dynamic);
        let dynamic = told.or(row.dynamic.then_some(self.programs));
        let mut item = SiteItem {
            row,
            header,
            served,
            dynamic,
        };
        if self.site.own_sets.ask_plugins() {
            let sets = Record::new(self, &item).sets_by_plugins()?;
            item.header.set_specs.extend(sets);
        }
        item.header.set_specs.sort_unstable();
        item.header.set_specs.dedup();
        Ok(item)
    }

    /// Whether the origin shows this requester anything of a media type.
    fn holds_type(&self, media_type: i64) -> Result<bool, Error> {
        if self.origin.is_none() {
            return Ok(true);
        }
        let rows = self.reader.some_of_type(media_type, PROBED)?;
        let mut notes = Notes::default();
        let mut holds = false;
        for part in rows.chunks(PROBED_AT_ONCE) {
            holds = !self.items(part.to_vec(), &mut notes)?.0.is_empty();
            if holds {
                break;
            }
        }
        self.keep(&notes);
        Ok(holds)
    }

    /// How many of the rows fill what is wanted, the one that goes beyond it included: it tells that the list goes on.
    fn enough(&self, rows: &[Row], portion: Portion<'_>) -> usize {
        let mut bytes = 0;
        let beyond = rows.iter().position(|row| {
            bytes += self.least_size(row, portion.metadata_prefix);
            bytes > portion.bytes
        });
        beyond.map_or(rows.len(), |position| position + 1)
    }

    /// The least size of a record that is given as the index knows its file.
    fn least_size(&self, row: &Row, metadata_prefix: Option<&str>) -> u64 {
        if metadata_prefix != Some(didl::PREFIX) || row.state != State::Live || row.dynamic {
            return 0;
        }
        let types = self.site.index.media_types();
        let entry = types.get(row.media_type);
        let limit = entry.map(|entry| self.site.config.by_value.limit_of(&entry.name));
        match limit.is_some_and(|limit| row.size <= limit) {
            true => didl::base64_length(row.size),
            false => 0,
        }
    }

    /// The set of a range, if it is one of the webmaster's own.
    fn own_set<'r>(&self, range: &'r Range) -> Option<&'r SetSpec> {
        let set = range.set.as_ref()?;
        self.site.own_sets.has(set).then_some(set)
    }

    /// Beside an origin as many rows are looked at as there may be items, part by part: a slow origin ends the
    /// batch early, so that it cannot keep a page waiting; so do plug-ins that are asked for sets.
    fn list_rows(
        &self,
        range: &Range,
        after: Option<Position>,
        portion: Portion<'_>,
    ) -> Result<ItemBatch<SiteItem>, Error> {
        let began = Instant::now();
        let at_most = portion.at_most;
        let own_set = self.own_set(range);
        // The index knows media types alone: all rows are looked at for a set by URLs.
        let whole = own_set.map(|_| Range {
            set: None,
            ..range.clone()
        });
        let read = whole.as_ref().unwrap_or(range);
        let mut rows = self.reader.list(&self.visibility, read, after, at_most)?;
        let enough = self.enough(&rows, portion);
        let mut batch = ItemBatch {
            items: Vec::new(),
            behind: None,
            exhausted: rows.len() < at_most && enough == rows.len(),
            lookups: 0,
        };
        rows.truncate(enough);
        let takes_long = self.origin.is_some() || self.site.own_sets.ask_plugins();
        let part_size = if takes_long { LOOKED_AT_ONCE } else { at_most };
        let mut notes = Notes::default();
        let mut rows = rows.into_iter();
        while rows.len() > 0 {
            if batch.behind.is_some() && began.elapsed() > PATIENCE {
                batch.exhausted = false;
                break;
            }
            let mut part: Vec<_> = rows.by_ref().take(part_size).collect();
            batch.behind = part.last().map(position);
            if let Some(spec) = own_set {
                part.retain(|row| self.site.own_sets.may_be_in(&row.path, spec));
            }
            let (mut items, lookups) = self.items(part, &mut notes)?;
            if let Some(spec) = own_set {
                items.retain(|item| item.header.set_specs.iter().any(|own| spec.contains(own)));
            }
            batch.items.extend(items);
            batch.lookups += lookups;
        }
        self.keep(&notes);
        Ok(batch)
    }
}

impl Drop for SiteView<'_> {
    fn drop(&mut self) {
        self.keep_findings();
    }
}

impl View for SiteView<'_> {
    type Item = SiteItem;

    fn response_date(&self) -> Datestamp {
        self.response_date
    }

    fn earliest_datestamp(&self) -> Result<Datestamp, provider::Error> {
        let earliest = self.reader.earliest()?;
        let earliest = earliest.map_or(self.response_date, Datestamp::from_seconds);
        // Rounded down to a new year: not tight, but never a leap day from which a year cannot be taken.
        Ok(earliest.start_of_year())
    }

    fn metadata_formats(&self) -> Vec<MetadataFormat> {
        let schema = assets::url(&self.addresses.base_url, assets::HTTP_HEADER_SCHEMA);
        let mut formats = vec![
            dublin_core::format(),
            http_header::format(&schema),
            didl::format(),
        ];
        for format in self.site.plugins.iter().filter_map(Plugin::format) {
            let format = MetadataFormat {
                prefix: format.prefix.clone(),
                schema: format.schema.clone(),
                namespace: format.namespace.clone(),
            };
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        formats
    }

    fn sets(&self) -> Result<Vec<Set>, provider::Error> {
        let types = self.site.index.media_types();
        let mut sets = std::collections::BTreeMap::<SetSpec, String>::new();
        for media_type in self.reader.held_types(&self.visibility)? {
            let Some(entry) = types.get(media_type) else {
                continue;
            };
            if !self.holds_type(media_type)? {
                continue;
            }
            let Some(set_spec) = &entry.set_spec else {
                continue;
            };
            sets.insert(set_spec.clone(), entry.name.clone());
            let kind = entry.name.split('/').next().unwrap_or_default();
            if let Some(parent) = set_spec.parent() {
                if let Some(root) = parent.parent() {
                    sets.insert(root, "all media types".to_owned());
                }
                sets.insert(parent, format!("{kind}/*"));
            }
        }
        for own in self.site.own_sets.all() {
            sets.entry(own.spec).or_insert(own.name);
        }
        Ok(sets
            .into_iter()
            .map(|(spec, name)| Set { spec, name })
            .collect())
    }

    fn item(&self, identifier: &str) -> Result<Option<SiteItem>, provider::Error> {
        let Some(path) = self.addresses.path_of(identifier) else {
            return Ok(None);
        };
        let mut rows = self.reader.rows_of(&self.visibility, &path)?;
        // Not yet in the lists of this moment, so not here either.
        rows.retain(|row| row.datestamp <= self.response_date.seconds());
        let mut notes = Notes::default();
        let (items, _) = self.items(rows, &mut notes)?;
        self.keep(&notes);
        Ok(items.into_iter().next())
    }

    fn count(&self, range: &Range, prefix: &str) -> Result<Option<u64>, provider::Error> {
        // Beside an origin only asking for every one of them would tell.
        let all_have_it = match prefix {
            dublin_core::PREFIX | didl::PREFIX => true,
            http_header::PREFIX => self.site.config.offer.dynamic == DynamicPolicy::Off,
            _ => false,
        };
        if self.origin.is_some() || !all_have_it || self.own_set(range).is_some() {
            return Ok(None);
        }
        Ok(Some(self.reader.count(&self.visibility, range)?))
    }

    fn list(
        &self,
        range: &Range,
        after: Option<Position>,
        portion: Portion<'_>,
    ) -> Result<ItemBatch<SiteItem>, provider::Error> {
        Ok(self.list_rows(range, after, portion)?)
    }

    fn has_format(&self, item: &SiteItem, metadata_prefix: &str) -> bool {
        Record::new(self, item).has_format(metadata_prefix)
    }

    fn runs_program(&self, item: &SiteItem, metadata_prefix: &str) -> bool {
        Record::new(self, item).runs_program(metadata_prefix)
    }

    fn obtain(&self, item: &SiteItem, prefix: &str) -> Result<Obtained, provider::Error> {
        Ok(Record::new(self, item).obtain(prefix)?)
    }

    fn metadata_size(&self, item: &SiteItem, metadata_prefix: &str) -> u64 {
        Record::new(self, item).size(metadata_prefix)
    }

    fn prepare(&self, item: &SiteItem, coming: &[SiteItem], metadata_prefix: &str, bytes: u64) {
        if metadata_prefix == didl::PREFIX && !coming.is_empty() {
            self.prepared.begin(self, item, coming, bytes);
        }
    }

    fn resource(&self, item: &SiteItem) -> Result<Option<Listable>, provider::Error> {
        let record = Record::new(self, item);
        Ok(record.is_listed().then(|| record.listed()))
    }

    fn changes_since(&self) -> Result<Datestamp, provider::Error> {
        match self.reader.changes_since()? {
            Some(since) => Ok(Datestamp::from_seconds(since)),
            None => self.earliest_datestamp(),
        }
    }

    fn cuts(
        &self,
        range: &Range,
        with_deleted: bool,
        most: Most,
    ) -> Result<Option<Vec<Position>>, provider::Error> {
        let site_url = self.addresses.site_url.len() as u64;
        let (reader, visibility) = (&self.reader, &self.visibility);
        let cuts = reader.cuts(visibility, range, with_deleted, most, site_url)?;
        Ok(Some(cuts))
    }

    fn write_metadata<W: Write>(
        &self,
        item: &SiteItem,
        metadata_prefix: &str,
        xml: &mut Writer<W>,
    ) -> Result<(), provider::Error> {
        Ok(Record::new(self, item).write(metadata_prefix, xml)?)
    }

    fn write_about<W: Write>(
        &self,
        item: &SiteItem,
        xml: &mut Writer<W>,
    ) -> Result<(), provider::Error> {
        let Some(statement) = RightsConfig::of(&self.site.config.rights, &item.row.path) else {
            return Ok(());
        };
        xml.start("about", &[])?;
        rights::write(xml, statement)?;
        Ok(xml.end("about")?)
    }
}

impl From<Error> for provider::Error {
    fn from(error: Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// Number of items of a media type that are asked for to see whether a requester may see any.
const PROBED: i64 = 64;
/// Number of them that are asked for at once: most often the first will do.
const PROBED_AT_ONCE: usize = 8;

/// Number of items of a list that are asked for at once.
const LOOKED_AT_ONCE: usize = 32;
/// After this time a batch ends with what it holds.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where a list stands behind a row.
fn position(row: &Row) -> Position {
    Position {
        datestamp: Datestamp::from_seconds(row.datestamp),
        id: row.id,
    }
}

/// The question about a row for an origin.
pub(crate) fn candidate(row: &Row) -> Candidate {
    let facts = (row.state == State::Live && !row.dynamic).then(|| row.facts());
    Candidate {
        path: row.path.clone(),
        facts,
    }
}

/// Takes the moment of an answer. Where an item was changed twice within an answered second its stamp is
/// a second ahead: the answer waits for it, rather than leave the item out.
fn moment(site: &Site) -> Result<i64, Error> {
    let now = site.index.answer()?;
    let latest = site.index.latest();
    if latest <= now {
        return Ok(now);
    }
    let moment = UNIX_EPOCH + Duration::from_secs(u64::try_from(latest).unwrap_or(0));
    let ahead = moment.duration_since(SystemTime::now()).unwrap_or_default();
    // Never longer than a second, even if the clock was set back.
    std::thread::sleep(ahead.min(Duration::from_secs(1)));
    site.index.answer_at(latest)
}
