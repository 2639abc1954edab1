//! What one requester may see of a site at one moment, as the provider wants it.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oai::format::{MetadataFormat, didl, dublin_core, http_header};
use oai::xml::Writer;
use oai::{Datestamp, Position, RecordHeader, Set, SetSpec};
use provider::{Listed, Range, View, assets};
use sha2::{Digest, Sha256};

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
        // Before anything is decided: who is let in later finds everything stamped at this moment or later.
        let response_date = Datestamp::from_seconds(moment(site)?);
        let visibility = match site.origin {
            Some(_) => Visibility {
                undecided: true,
                ..Visibility::default()
            },
            None => site.access.visibility(&requester),
        };
        Ok(Self {
            response_date,
            reader: site.index.reader()?,
            site,
            requester,
            visibility,
        })
    }

    /// The items of rows, without those that the origin would not show to this requester.
    fn items(&self, rows: Vec<Row>) -> Result<Vec<SiteItem>, Error> {
        let looks = self.looks(&rows)?;
        let mut items = Vec::new();
        for (row, look) in rows.into_iter().zip(looks) {
            if let Some(item) = self.item_by_look(row, look)? {
                items.push(item);
            }
        }
        Ok(items)
    }

    /// What the origin says of rows; nothing where there is no origin, or nothing to be asked.
    fn looks(&self, rows: &[Row]) -> Result<Vec<Option<Look>>, Error> {
        let Some(origin) = &self.site.origin else {
            return Ok(vec![None; rows.len()]);
        };
        let there: Vec<_> = rows
            .iter()
            .filter(|row| row.state != State::Deleted)
            .collect();
        let candidates: Vec<_> = there.iter().map(|row| candidate(row)).collect();
        let looks = origin
            .look(&self.requester, &candidates)
            .map_err(Error::Origin)?;
        self.note(&there, &looks)?;
        let mut looks = looks.into_iter();
        let look_of = |row: &Row| match row.state {
            State::Deleted => None,
            _ => looks.next(),
        };
        Ok(rows.iter().map(look_of).collect())
    }

    fn item_by_look(&self, row: Row, look: Option<Look>) -> Result<Option<SiteItem>, Error> {
        let beside_origin = self.site.origin.is_some();
        match (row.state, look) {
            _ if !beside_origin => self.item_of(row, None).map(Some),
            (State::Live, Some(Look::Served(headers))) => {
                self.item_of(row, Some(headers)).map(Some)
            }
            // Shown to all once: no secret, so that even a refusal may be told as a deletion.
            (State::Withdrawn, Some(Look::Refused | Look::NotServed(_))) => {
                self.item_of(row, None).map(Some)
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

    /// Remembers who was given what is not for all, and what was missed because the origin did not serve it
    /// just then: that is stamped anew when it is served again.
    fn note(&self, rows: &[&Row], looks: &[Look]) -> Result<(), Error> {
        let (mut seen, mut missed, mut back) = (Vec::new(), Vec::new(), Vec::new());
        let live = rows
            .iter()
            .zip(looks)
            .filter(|(row, _)| row.state == State::Live);
        for (row, look) in live {
            match look {
                Look::Served(_) => {
                    if row.shown != Some(true) {
                        seen.push(row.id);
                    }
                    if row.missed {
                        back.push(row.path.clone());
                    }
                }
                Look::NotServed(_) if !row.missed => missed.push(row.id),
                _ => {}
            }
        }
        let index = &self.site.index;
        index.note_seen(&seen, self.who())?;
        index.note_missed(&missed)?;
        index.restamp_missed(&back)
    }

    /// Who asks: by credentials, or by address where there are none.
    fn who(&self) -> i64 {
        let requester = &self.requester;
        let name = match (&requester.authorization, &requester.cookie) {
            (None, None) => requester.address.to_string(),
            (authorization, cookie) => format!("{authorization:?} {cookie:?}"),
        };
        let digest = Sha256::new()
            .chain_update(self.site.index.secret())
            .chain_update(name)
            .finalize();
        let mut number = [0; 8];
        number.copy_from_slice(&digest[..8]);
        i64::from_le_bytes(number)
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
        set_specs.sort_unstable();
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
        let rows = self.reader.some_of_type(media_type, PROBED)?;
        Ok(!self.items(rows)?.is_empty())
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

/// So many items of a media type are asked for to see whether a requester may see any.
const PROBED: i64 = 64;

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
