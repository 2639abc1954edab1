//! Where a harvest goes on after it was interrupted: kept in the catalog, together with the rows of each page.

use crawl::warc::Position;
use harvester::ResumeState;
use serde::{Deserialize, Serialize};

use super::slices::Span;

/// The state that a harvest needs to resume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    pub(super) slices: Vec<Slice>,
    /// Whether resources are written also where records are the same as before.
    pub(super) anew: bool,
    /// How far the WARC file is whose records are committed: its name and its length; both are empty as long as none
    /// are.
    pub(super) warc: Option<(String, u64)>,
    /// The span that was cut into slices, and how many records the repository says it has.
    #[serde(default)]
    pub(super) whole: Option<(Span, u64)>,
    /// Whether the last harvest found completeListSize to be wrong.
    #[serde(default)]
    pub(super) distrusts_sizes: bool,
}

/// A part of the list that is harvested by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Slice {
    pub(super) from: Option<String>,
    pub(super) until: Option<String>,
    #[serde(rename = "stand")]
    pub(super) state: SliceState,
    /// Where the next harvest should begin, as far as this slice is concerned.
    pub(super) next_from: Option<String>,
    /// How many records came.
    #[serde(default)]
    pub(super) given: u64,
}

impl Slice {
    fn new((from, until): Span) -> Self {
        Self {
            from,
            until,
            state: SliceState::Ahead,
            next_from: None,
            given: 0,
        }
    }
}

/// How far a slice is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SliceState {
    /// Nothing of it is committed.
    Ahead,
    /// This is where it goes on.
    Begun(Box<ResumeState>),
    /// All of it is committed.
    Done,
}

impl Checkpoint {
    /// A harvest that has not begun.
    pub(super) fn new(spans: Vec<Span>, anew: bool) -> Self {
        Self {
            slices: spans.into_iter().map(Slice::new).collect(),
            anew,
            warc: None,
            whole: None,
            distrusts_sizes: false,
        }
    }

    /// Adds the whole span as one more slice if fewer records came than it has. `true` if it does.
    pub(super) fn add_whole(&mut self) -> bool {
        let came: u64 = self.slices.iter().map(|slice| slice.given).sum();
        let Some((span, _)) = self.whole.take().filter(|(_, size)| came < *size) else {
            return false;
        };
        self.slices.push(Slice::new(span));
        true
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn text(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// How far WARC files are safe, if that is known.
    pub(super) fn position(&self) -> Option<Position> {
        let (file, length) = self.warc.clone()?;
        Some(Position { file, length })
    }

    pub(super) fn set_position(&mut self, position: Position) {
        self.warc = Some((position.file, position.length));
    }

    /// Where the next harvest should begin: where the first of the slices did. Datestamps sort as text.
    pub(super) fn next_from(&self) -> Option<String> {
        let each = self.slices.iter().map(|slice| slice.next_from.clone());
        each.collect::<Option<Vec<_>>>()?.into_iter().min()
    }
}
