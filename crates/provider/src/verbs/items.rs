//! The items of a list, fetched batch by batch.

use std::time::Instant;

use oai::{Datestamp, ListVerb, MetadataPrefix, Position};

use crate::Error;
use crate::limits::Page;
use crate::view::{Portion, Range, View};

/// The items of a range, fetched batch by batch.
pub(super) struct Items<'a, V: View> {
    pub(super) view: &'a V,
    pub(super) range: Range,
    pub(super) metadata_prefix: MetadataPrefix,
    pub(super) list_verb: ListVerb,
    pub(super) after: Option<Position>,
    pub(super) batch: std::vec::IntoIter<V::Item>,
    pub(super) batch_size: usize,
    pub(super) exhausted: bool,
    pub(super) lookups: u64,
    /// Lookups made before the batch at hand was asked for. What that batch brought costs nothing more, so
    /// it is given even if the limit was reached by it.
    pub(super) lookups_before: u64,
    /// When the batch at hand was asked for.
    pub(super) asked_at: Instant,
    pub(super) most_lookups: u64,
}

impl<V: View> Items<'_, V> {
    /// The next item, looked for as one on this page.
    pub(super) fn next(&mut self, page: &Page) -> Result<Option<V::Item>, Error> {
        loop {
            let prefix = self.metadata_prefix.as_str();
            let has_format = |item: &V::Item| self.view.has_format(item, prefix);
            if let Some(item) = self.batch.find(has_format) {
                return Ok(Some(item));
            }
            if self.exhausted || self.range.from > self.range.until {
                return Ok(None);
            }
            self.fetch(page)?;
        }
    }

    fn fetch(&mut self, page: &Page) -> Result<(), Error> {
        let portion = Portion {
            at_most: self.next_size(),
            metadata_prefix: match self.list_verb {
                ListVerb::ListIdentifiers => None,
                ListVerb::ListRecords => Some(self.metadata_prefix.as_str()),
            },
            bytes: page.bytes_left,
        };
        self.asked_at = Instant::now();
        let batch = self.view.list(&self.range, self.after, portion)?;
        self.batch_size = (self.batch_size * 2).min(LARGEST_BATCH);
        self.lookups_before = self.lookups;
        self.lookups += batch.lookups;
        self.exhausted = batch.exhausted || batch.behind.is_none();
        self.after = batch.behind.or(self.after);
        self.batch = batch.items.into_iter();
        Ok(())
    }

    /// No more than may still be looked up; where that is nothing, the next visible item is looked for in small
    /// steps, for a page is never empty and must know whether the list goes on.
    fn next_size(&self) -> usize {
        match usize::try_from(self.most_lookups.saturating_sub(self.lookups)) {
            Ok(0) => SMALL_STEP,
            Ok(left) => self.batch_size.min(left),
            Err(_) => self.batch_size,
        }
    }

    /// Moves the end of the range.
    pub(super) fn go_on_until(&mut self, until: Datestamp) {
        self.range.until = until;
        self.exhausted = false;
    }
}

/// Items are fetched in batches, small ones first, so that a page cut by bytes does not read far ahead.
pub(super) const FIRST_BATCH: usize = 32;
const SMALL_STEP: usize = 8;
const LARGEST_BATCH: usize = 512;
