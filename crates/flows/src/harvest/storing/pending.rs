//! Rows, counts and warnings that are stored and not committed yet.

use std::collections::{HashMap, HashSet, VecDeque};

use catalog::{Known, RecordRow, Warning};
use harvester::Header;

use super::page::Page;

/// Rows, counts and warnings that wait for a commit, and what will be known of their records then.
pub(super) struct Pending {
    run: i64,
    rows: Vec<RecordRow>,
    dropped: Vec<String>,
    /// Nothing is known of records that are dropped.
    uncommitted: Uncommitted,
    /// The same of batches that were handed over, with their numbers. They go when no record is to come that was looked up
    /// before they were committed.
    recent: VecDeque<(u64, Uncommitted)>,
    /// How many batches were handed over.
    batches: u64,
    /// The counts and warnings of each slice's page. They are added when the page is complete.
    pub(super) pages: Vec<Page>,
    /// The rows of complete pages.
    pub(super) complete: Page,
    /// Warnings that need not be repeated for every record.
    warned: HashSet<String>,
}

/// The state of records after they are committed.
type Uncommitted = HashMap<String, Option<Known>>;

impl Pending {
    pub(super) fn new(run: i64, slices: usize) -> Self {
        Self {
            run,
            rows: Vec::new(),
            dropped: Vec::new(),
            uncommitted: HashMap::new(),
            recent: VecDeque::new(),
            batches: 0,
            pages: (0..slices).map(|_| Page::default()).collect(),
            complete: Page::default(),
            warned: HashSet::new(),
        }
    }

    /// Whether so many rows wait that they are committed although their page is not complete.
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= MOST_ROWS
    }

    /// Warns of something once in this harvest.
    pub(super) fn warn_once(&mut self, slice: usize, reason: &str) {
        if self.warned.insert(reason.to_owned()) {
            self.pages[slice].warn(None, reason.to_owned());
        }
    }

    /// Ends the page of a slice: what it brought counts.
    pub(super) fn end_page(&mut self, slice: usize) {
        self.complete.add(std::mem::take(&mut self.pages[slice]));
    }

    /// The state of a record, with `known` of the catalog when it had committed `committed` batches.
    pub(super) fn before(
        &mut self,
        identifier: &str,
        known: Option<Known>,
        committed: u64,
    ) -> Option<Known> {
        while (self.recent.front()).is_some_and(|(number, _)| *number <= committed) {
            self.recent.pop_front();
        }
        let recent = self.recent.iter().rev().map(|(_, uncommitted)| uncommitted);
        let mut newest_first = std::iter::once(&self.uncommitted).chain(recent);
        match newest_first.find_map(|uncommitted| uncommitted.get(identifier)) {
            Some(uncommitted) => uncommitted.clone(),
            None => known,
        }
    }

    /// Whether this harvest has had a newer version of a record already: lists that change while they are read, or are in
    /// no order, may give an older one after it.
    pub(super) fn is_outdated(&self, header: &Header, before: Option<&Known>) -> bool {
        let before = before.filter(|before| before.run == self.run);
        let newest = before.and_then(|before| before.datestamp);
        let datestamp = header.moment().map(|moment| moment.seconds());
        newest
            .zip(datestamp)
            .is_some_and(|(newest, this)| this < newest)
    }

    /// Adds a row.
    pub(super) fn put(&mut self, row: RecordRow) {
        let known = Some(known(&row, self.run));
        if self.uncommitted.insert(row.identifier.clone(), known) == Some(None) {
            self.dropped.retain(|dropped| *dropped != row.identifier);
        }
        self.rows.push(row);
    }

    /// Drops the row of a record.
    pub(super) fn drop_row(&mut self, identifier: &str) {
        self.rows.retain(|row| row.identifier != identifier);
        self.uncommitted.insert(identifier.to_owned(), None);
        self.dropped.push(identifier.to_owned());
    }

    /// Takes everything that a commit brings to the catalog.
    pub(super) fn take(&mut self) -> Taken {
        let mut page = std::mem::take(&mut self.complete);
        if page.unnamed > 0 {
            let reason = format!(
                "{} further warnings on this page are not listed",
                page.unnamed
            );
            page.warnings.push(Warning {
                identifier: None,
                reason,
                lost: false,
            });
        }
        Taken {
            rows: std::mem::take(&mut self.rows),
            dropped: std::mem::take(&mut self.dropped),
            page,
        }
    }

    /// Notes that the batch was handed over that was taken last.
    pub(super) fn handed_over(&mut self) {
        self.batches += 1;
        let uncommitted = std::mem::take(&mut self.uncommitted);
        self.recent.push_back((self.batches, uncommitted));
    }
}

/// The rows that are committed together.
pub(super) struct Taken {
    pub(super) rows: Vec<RecordRow>,
    pub(super) dropped: Vec<String>,
    pub(super) page: Page,
}

/// The state of a record when its row is committed.
fn known(row: &RecordRow, run: i64) -> Known {
    Known {
        datestamp: row.datestamp,
        deleted: row.deleted,
        file: row.file.clone(),
        sha256: row.sha256.clone(),
        validation: row.validation,
        run,
    }
}

/// How many rows are committed at once, if a page is longer.
const MOST_ROWS: usize = 5000;
