//! The steps of a harvest, and its outcome.

use super::ResumeState;
use crate::Quirks;
use crate::record::{LeftOut, Record};

/// A step of a harvest.
#[derive(Debug)]
pub enum Step {
    /// A record.
    Record(Record),
    /// A record that could not be had.
    LeftOut(LeftOut),
    /// The end of a page.
    Page(Box<PageEnd>),
}

/// The state at the end of a page.
#[derive(Debug)]
pub struct PageEnd {
    /// Where to go on; `None` when all is done.
    pub state: Option<ResumeState>,
    /// How many records the page gave.
    pub records: u64,
    /// Its length in bytes, decoded.
    pub bytes: u64,
    /// How many records the harvest gave so far, with those before it was resumed.
    pub given: u64,
    /// How many records there are in the list, as far as the repository tells.
    pub complete_list_size: Option<u64>,
    /// The oddities of the page.
    pub quirks: Quirks,
    /// Why the page could not be read to its end.
    pub broken: Option<String>,
}

/// The outcome of a harvest, since it was begun or resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Where the next harvest should begin: the repository's own time at the first page, at its own
    /// granularity. What changed in that very moment comes twice.
    pub next_from: Option<String>,
    /// How many records were given.
    pub records: u64,
    /// How many could not be had.
    pub left_out: u64,
    /// How many pages were read.
    pub pages: u64,
    /// The oddities met.
    pub quirks: Quirks,
}
