//! What one requester may see of a site at one moment, as the provider wants it.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oai::format::{MetadataFormat, didl, dublin_core, http_header};
use oai::xml::Writer;
use oai::{Datestamp, Position, RecordHeader, Set, SetSpec};
use provider::{Listed, Range, View, assets};

use crate::index::{Reader, Row, State, Visibility};
use crate::record::Record;
use crate::{Candidate, Error, Look, Requester, Site};

/// A view of a site.
#[derive(Debug)]
pub struct SiteView<'a> {
    pub(crate) site: &'a Site,
    pub(crate) requester: Requester,
    pub(crate) reader: Reader<'a>,
    visibility: Visibility,
    response_date: Datestamp,
}

/// An item of a view.
#[derive(Debug)]
pub struct SiteItem {
    pub(crate) row: Row,
    pub(crate) header: RecordHeader,
    /// The headers that the origin sends, where there is one.
    pub(crate) origin_headers: Option<Vec<(String, String)>>,
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
    pub(crate) fn new(site: &'a Site, requester: Requester) -> Result<Self, Error> {
        let visibility = match site.origin {
            Some(_) => Visibility {
                undecided: true,
                ..Visibility::default()
            },
            None => site.access.visibility(&requester),
        };
        Ok(Self {
            response_date: Datestamp::from_seconds(moment(site)),
            reader: site.index.reader()?,
            site,
            requester,
            visibility,
        })
    }

    /// The items of rows, without those that the origin would not show to this requester.
    fn items(&self, rows: Vec<Row>) -> Result<Vec<SiteItem>, Error> {
        let Some(origin) = &self.site.origin else {
            return rows
                .into_iter()
                .map(|row| self.item_of(row, None))
                .collect();
        };
        let candidates: Vec<_> = rows.iter().map(candidate).collect();
        let looks = origin
            .look(&self.requester, &candidates)
            .map_err(Error::Origin)?;
        self.note_shown(&rows, &looks)?;
        let mut items = Vec::new();
        for (row, look) in rows.into_iter().zip(looks) {
            match (row.state, look) {
                // Shown to all once: no secret, so that even a refusal may be told as a deletion.
                (State::Withdrawn, Look::Refused | Look::NotServed(_)) => {
                    items.push(self.item_of(row, None)?);
                }
                (State::Live, Look::Served(headers)) => {
                    items.push(self.item_of(row, Some(headers))?);
                }
                // What is gone is told to all whom the server would not refuse its place.
                (State::Deleted, Look::Served(_) | Look::NotServed(_)) => {
                    items.push(self.item_of(row, None)?);
                }
                _ => {}
            }
        }
        Ok(items)
    }

    /// What is told to somebody without credentials is remembered, to tell later when it is no longer shown.
    fn note_shown(&self, rows: &[Row], looks: &[Look]) -> Result<(), Error> {
        if self.requester.authorization.is_some() || self.requester.cookie.is_some() {
            return Ok(());
        }
        let first_time = |row: &Row| row.state == State::Live && row.shown.is_none();
        let noted: Vec<_> = rows
            .iter()
            .zip(looks)
            .filter(|(row, _)| first_time(row))
            .map(|(row, look)| (row.id, matches!(look, Look::Served(_))))
            .collect();
        self.site.index.note_shown(&noted)
    }

    fn item_of(
        &self,
        row: Row,
        origin_headers: Option<Vec<(String, String)>>,
    ) -> Result<SiteItem, Error> {
        let deleted = row.state != State::Live;
        let types = self.site.index.media_types();
        let mut media_types = vec![row.media_type];
        if deleted {
            media_types.extend(self.reader.former_types(row.id)?);
        }
        let sets = media_types.iter().filter_map(|id| types.get(*id));
        let mut set_specs: Vec<_> = sets.map(|entry| entry.set_spec.clone()).collect();
        set_specs.dedup();
        let header = RecordHeader {
            identifier: self.site.url_of(&row.path),
            datestamp: Datestamp::from_seconds(row.datestamp),
            set_specs,
            deleted,
        };
        Ok(SiteItem {
            row,
            header,
            origin_headers,
        })
    }

    /// Whether the origin shows this requester anything of a media type.
    fn holds_type(&self, media_type: i64) -> Result<bool, Error> {
        if self.site.origin.is_none() {
            return Ok(true);
        }
        let mut after = i64::MIN;
        loop {
            let rows = self.reader.live_of_type(media_type, after, 32)?;
            let Some(last) = rows.last().map(|row| row.id) else {
                return Ok(false);
            };
            after = last;
            if !self.items(rows)?.is_empty() {
                return Ok(true);
            }
        }
    }

    fn list_rows(
        &self,
        range: &Range,
        after: Option<Position>,
        at_most: usize,
    ) -> Result<Vec<SiteItem>, Error> {
        let mut items = Vec::new();
        let mut after = after;
        while items.len() < at_most {
            let wanted = at_most - items.len();
            let rows = self.reader.list(&self.visibility, range, after, wanted)?;
            let exhausted = rows.len() < wanted;
            after = rows.last().map(|row| Position {
                datestamp: Datestamp::from_seconds(row.datestamp),
                id: row.id,
            });
            items.extend(self.items(rows)?);
            if exhausted {
                break;
            }
        }
        Ok(items)
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
        let schema = assets::url(&self.site.config.base_url, assets::HTTP_HEADER_SCHEMA);
        vec![
            dublin_core::format(),
            http_header::format(&schema),
            didl::format(),
        ]
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
            sets.insert(entry.set_spec.clone(), entry.name.clone());
            let kind = entry.name.split('/').next().unwrap_or_default();
            if let Some(parent) = entry.set_spec.parent() {
                if let Some(root) = parent.parent() {
                    sets.insert(root, "all media types".to_owned());
                }
                sets.insert(parent, format!("{kind}/*"));
            }
        }
        Ok(sets
            .into_iter()
            .map(|(spec, name)| Set { spec, name })
            .collect())
    }

    fn item(&self, identifier: &str) -> Result<Option<SiteItem>, provider::Error> {
        let Some(path) = self.site.path_of(identifier) else {
            return Ok(None);
        };
        let mut rows = self.reader.rows_of(&self.visibility, &path)?;
        // Not yet in the lists of this moment, so not here either.
        rows.retain(|row| row.datestamp <= self.response_date.seconds());
        let items = self.items(rows)?;
        Ok(items.into_iter().next())
    }

    fn count(&self, range: &Range) -> Result<Option<u64>, provider::Error> {
        // Beside an origin only asking for every one of them would tell.
        if self.site.origin.is_some() {
            return Ok(None);
        }
        Ok(Some(self.reader.count(&self.visibility, range)?))
    }

    fn list(
        &self,
        range: &Range,
        after: Option<Position>,
        at_most: usize,
    ) -> Result<Vec<SiteItem>, provider::Error> {
        Ok(self.list_rows(range, after, at_most)?)
    }

    fn metadata_size(&self, item: &SiteItem, metadata_prefix: &str) -> u64 {
        Record::new(self, item).size(metadata_prefix)
    }

    fn write_metadata<W: Write>(
        &self,
        item: &SiteItem,
        metadata_prefix: &str,
        xml: &mut Writer<W>,
    ) -> Result<(), provider::Error> {
        Ok(Record::new(self, item).write(metadata_prefix, xml)?)
    }
}

impl From<Error> for provider::Error {
    fn from(error: Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// What an origin is asked about a row.
pub(crate) fn candidate(row: &Row) -> Candidate {
    let facts = (row.state == State::Live && !row.dynamic).then(|| row.facts());
    Candidate {
        path: row.path.clone(),
        facts,
    }
}

/// Takes the moment of an answer. Where an item was changed twice within an answered second its stamp is
/// a second ahead: the answer waits for it, rather than leave the item out.
fn moment(site: &Site) -> i64 {
    let now = site.index.answer();
    let latest = site.index.latest();
    if latest <= now {
        return now;
    }
    let moment = UNIX_EPOCH + Duration::from_secs(u64::try_from(latest).unwrap_or(0));
    let ahead = moment.duration_since(SystemTime::now()).unwrap_or_default();
    // Never longer than a second, even if the clock was set back.
    std::thread::sleep(ahead.min(Duration::from_secs(1)));
    site.index.answer_at(latest)
}
