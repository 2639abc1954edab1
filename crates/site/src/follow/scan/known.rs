//! The index's side of a comparison: its live rows in the order of their paths, a batch at a time.

use std::collections::VecDeque;

use crate::index::{Index, Row, State};
use crate::{Error, Facts, SitePath};
use process::Stop;

/// Where the site and the index differ.
pub(super) enum Suspect {
    /// The walk has just met a file that is new or another one.
    Met(SitePath),
    /// The walk did not meet it.
    Missed(SitePath),
}

impl Suspect {
    fn missed(row: Row) -> Self {
        Self::Missed(row.path)
    }
}

/// The live rows within a directory that the walk has not come to yet. A stop ends each step early.
pub(super) struct Known<'a> {
    index: &'a Index,
    within: SitePath,
    rows: VecDeque<Row>,
    last: Option<SitePath>,
    exhausted: bool,
    stop: Stop,
}

impl<'a> Known<'a> {
    pub(super) fn new(index: &'a Index, within: &SitePath, stop: &Stop) -> Result<Self, Error> {
        let mut known = Self {
            index,
            within: within.clone(),
            rows: VecDeque::new(),
            last: None,
            exhausted: false,
            stop: stop.clone(),
        };
        known.fill()?;
        Ok(known)
    }

    /// Rows before a path were not met by the walk.
    pub(super) fn skip_before(
        &mut self,
        path: &SitePath,
        suspects: &mut Vec<Suspect>,
    ) -> Result<(), Error> {
        while !self.stop.is_set() && self.rows.front().is_some_and(|row| row.path < *path) {
            suspects.extend(self.pop()?.map(Suspect::missed));
        }
        Ok(())
    }

    /// Rows within a path that could not be looked into stay as they are. Others may lie between the path and what
    /// is below it: `a-b` comes before `a/b`.
    pub(super) fn skip_within(
        &mut self,
        path: &SitePath,
        suspects: &mut Vec<Suspect>,
    ) -> Result<(), Error> {
        let (_, end) = path.bounds_below();
        let is_before_end = |row: &Row| row.path.as_bytes() < end.as_slice();
        while !self.stop.is_set() && self.rows.front().is_some_and(is_before_end) {
            let row = self.pop()?.filter(|row| !row.path.is_within(path));
            suspects.extend(row.map(Suspect::missed));
        }
        Ok(())
    }

    /// Whether the front row is of this path and says the same; the media type too, if one is given.
    pub(super) fn matches(
        &mut self,
        path: &SitePath,
        facts: &Facts,
        media_type: Option<&str>,
        dynamic: bool,
    ) -> Result<bool, Error> {
        if self.rows.front().is_none_or(|row| row.path != *path) {
            return Ok(false);
        }
        let Some(row) = self.pop()? else {
            return Ok(false);
        };
        let types = self.index.media_types();
        let same_type = media_type.is_none_or(|media_type| {
            let known = types.get(row.media_type);
            known.is_some_and(|entry| entry.name == media_type)
        });
        Ok(row.mark == facts.mark && row.dynamic == dynamic && same_type)
    }

    /// Rows behind the last path of the walk were not met either.
    pub(super) fn rest(mut self, suspects: &mut Vec<Suspect>) -> Result<(), Error> {
        while !self.stop.is_set()
            && let Some(row) = self.pop()?
        {
            suspects.push(Suspect::missed(row));
        }
        Ok(())
    }

    /// Makes sure that there is a row in front, if there are any left.
    fn fill(&mut self) -> Result<(), Error> {
        while self.rows.is_empty() && !self.exhausted {
            let rows = self
                .index
                .reader()?
                .by_path(&self.within, self.last.as_ref(), BATCH)?;
            self.exhausted = rows.len() < BATCH;
            self.last = rows.last().map(|row| row.path.clone()).or(self.last.take());
            let live = rows.into_iter().filter(|row| row.state == State::Live);
            self.rows.extend(live);
        }
        Ok(())
    }

    /// Takes the row in front.
    fn pop(&mut self) -> Result<Option<Row>, Error> {
        let row = self.rows.pop_front();
        self.fill()?;
        Ok(row)
    }
}

/// How many rows are read at once.
const BATCH: usize = 2000;
