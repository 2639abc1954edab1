//! Where a list is cut into parts, because a document may have 50,000 entries and 50 MB at most.

use oai::Position;

use super::entry::size_of_entry;
use crate::view::{Listed, Range, View};
use crate::{Error, ItemBatch};

/// How much a document may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Entries.
    pub entries: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Counts what goes into a part.
#[derive(Debug)]
pub struct Filling {
    most: Most,
    entries: u64,
    bytes: u64,
    last: Option<Position>,
    cuts: Vec<Position>,
}

impl Most {
    /// The limits of sitemaps. The head and the end of a document need some room too.
    pub const OF_A_DOCUMENT: Self = Self {
        entries: 50_000,
        bytes: 50 * 1024 * 1024 - 4096,
    };

    /// Begins with an empty part.
    pub fn filling(self) -> Filling {
        Filling {
            most: self,
            entries: 0,
            bytes: 0,
            last: None,
            cuts: Vec::new(),
        }
    }
}

impl Filling {
    /// Adds an entry whose URL has so many bytes.
    pub fn add(&mut self, position: Position, url: u64) {
        let size = size_of_entry(url);
        let is_full = self.entries >= self.most.entries || self.bytes + size > self.most.bytes;
        if is_full && let Some(last) = self.last {
            self.cuts.push(last);
            (self.entries, self.bytes) = (0, 0);
        }
        self.entries += 1;
        self.bytes += size;
        self.last = Some(position);
    }

    /// The last positions of all parts but the last one.
    pub fn cuts(self) -> Vec<Position> {
        self.cuts
    }
}

/// The cuts of a list, by the view itself or by a walk over its items.
pub(super) fn cuts<V: View>(
    view: &V,
    range: &Range,
    with_deleted: bool,
    most: Most,
) -> Result<Vec<Position>, Error> {
    if let Some(cuts) = view.cuts(range, with_deleted, most)? {
        return Ok(cuts);
    }
    let mut filling = most.filling();
    walk(view, range, None, |item| {
        if (with_deleted || !item.header().deleted)
            && let Some(resource) = view.resource(&item)?
        {
            filling.add(item.position(), resource.url.len() as u64);
        }
        Ok(true)
    })?;
    Ok(filling.cuts())
}

/// Goes over the items of a range behind a position until `each` says no.
pub(super) fn walk<V: View>(
    view: &V,
    range: &Range,
    mut after: Option<Position>,
    mut each: impl FnMut(V::Item) -> Result<bool, Error>,
) -> Result<(), Error> {
    if range.from > range.until {
        return Ok(());
    }
    loop {
        let ItemBatch {
            items,
            behind,
            exhausted,
            ..
        } = view.list_resources(range, after, BATCH)?;
        for item in items {
            if !each(item)? {
                return Ok(());
            }
        }
        match behind {
            Some(behind) if !exhausted => after = Some(behind),
            _ => return Ok(()),
        }
    }
}

/// How many items are asked for at once.
const BATCH: usize = 512;
