//! How many records a list announces and how many came: whether some may have been passed over.

use serde::{Deserialize, Serialize};

use super::run::Harvest;
use super::window::Window;
use crate::Quirk;
use crate::record::LeftOut;

/// Which reading of a list this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum Pass {
    #[default]
    First,
    /// The second reading of a list that shrank or ended early.
    Again,
    /// The headers of a span that was read in parts: records that did not come are asked for one by one.
    Check,
}

/// Figures on the length of a list, as its pages tell them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Where the list began, before restarts moved its `from`.
    pub(super) begin: Option<i64>,
    /// The completeListSize when the list began.
    pub(super) size: Option<u64>,
    /// Whether a page announced fewer records than one before it.
    shrank: bool,
    /// The newest datestamp that came before the list shrank.
    sound_until: Option<i64>,
    /// Whether all sizes can be read as the number of records that are left.
    pub(super) remaining: bool,
    /// How many records the harvest had met when the list began, and how many spans it had given up.
    pub(super) before: Option<(u64, u64)>,
    /// The same of the first reading.
    first_before: Option<(u64, u64)>,
    /// How many records came that had not come before.
    pub(super) fresh: u64,
    /// How many of them are older than the harvest, so that an earlier reading passed them over.
    passed_over: u64,
}

impl Tally {
    pub(super) fn new(begin: Option<i64>) -> Self {
        Self {
            begin,
            remaining: true,
            ..Self::default()
        }
    }

    /// Takes the completeListSize of a page, before which `given` records came, up to the datestamp `newest`.
    pub(super) fn note(&mut self, size: u64, last: Option<u64>, given: u64, newest: Option<i64>) {
        let first = *self.size.get_or_insert(size);
        self.remaining &= size.checked_add(given) == Some(first);
        if last.is_some_and(|last| size < last) && !self.shrank {
            self.shrank = true;
            self.sound_until = newest;
        }
    }

    /// Forgets the sizes: the list begins anew.
    pub(super) fn forget_sizes(&mut self) {
        *self = Self {
            before: self.before,
            first_before: self.first_before,
            ..Self::new(self.begin)
        };
    }
}

impl Harvest {
    /// How many records were met: given, or named as left out.
    pub(super) fn met(&self) -> u64 {
        self.state.given + self.state.lost
    }

    /// Notes what was met before the current list, where it begins.
    pub(super) fn begin_counting(&mut self) {
        let before = (self.met(), self.state.holes);
        if let Some(window) = self.state.windows.last_mut() {
            window.tally.before.get_or_insert(before);
        }
    }

    /// Counts a record that had not come before. `moment` is its datestamp.
    pub(super) fn count_fresh(&mut self, moment: Option<i64>) {
        let began = self.state.began;
        if let Some(window) = self.state.windows.last_mut() {
            window.tally.fresh += 1;
            let is_older = began.is_some_and(|began| moment.is_some_and(|moment| moment < began));
            window.tally.passed_over += u64::from(is_older);
        }
    }

    /// How many records of a list came.
    pub(super) fn counted(&self, window: &Window) -> u64 {
        match window.tally.before {
            // The pages before a restart are counted by what they gave.
            Some((met, _)) if window.restarts > 0 => {
                window.given.max(self.met().saturating_sub(met))
            }
            _ => window.given,
        }
    }

    /// Whether fewer records of a list came than it announced as it began.
    pub(super) fn is_short(&self, window: &Window) -> bool {
        // A span that was given up is told, and nobody knows how many records it has.
        let has_holes = window
            .tally
            .before
            .is_some_and(|(_, holes)| holes != self.state.holes);
        let size = window.tally.size.filter(|_| !has_holes);
        size.is_some_and(|size| self.counted(window) < size)
    }

    /// Whether records of a list may have been passed over.
    fn is_doubtful(&self, window: &Window) -> bool {
        self.is_short(window) || window.tally.shrank && !window.tally.remaining
    }

    /// Reads a list once more if records of it may have been passed over; whether it does.
    ///
    /// Servers that page by offset pass over a record for each one that vanishes before the offset.
    pub(super) fn read_again(&mut self) -> bool {
        let Some(window) = self.state.windows.last().cloned() else {
            return false;
        };
        if !self.is_doubtful(&window) {
            return false;
        }
        match window.pass {
            Pass::First if self.state.sizes_unreliable => {
                self.page.quirks.add(Quirk::SizesUnreliable);
                return false;
            }
            Pass::First => {}
            Pass::Again => {
                self.page.quirks.add(Quirk::SizesUnreliable);
                self.state.sizes_unreliable = true;
                self.tell_passed_over(&window);
                return false;
            }
            Pass::Check => return false,
        }
        self.page.quirks.add(Quirk::ListShrank);
        let ordered = self.state.ordered() && window.in_order && window.restarts == 0;
        let sound = window
            .tally
            .sound_until
            .filter(|_| ordered && window.tally.shrank);
        let granularity = self.state.granularity();
        let mut again = Window::new(
            sound.map_or(window.tally.begin, |sound| {
                Some(super::window::start_of(sound, granularity)).max(window.tally.begin)
            }),
            window.until,
            window.method,
        );
        again.pass = Pass::Again;
        again.part = window.part;
        again.cut = window.cut;
        again.tally.first_before = window.tally.before;
        self.state.windows.pop();
        self.state.windows.push(again);
        self.forget_list();
        true
    }

    /// Tells of records that came only at the second reading, which was not sound either.
    fn tell_passed_over(&mut self, window: &Window) {
        let since = window.tally.first_before.map_or(0, |(met, _)| met);
        let passed_over = window.tally.passed_over;
        if passed_over == 0 || !self.remembers_since(since) {
            return;
        }
        let dates = window.dates(self.state.granularity());
        self.leave_out(LeftOut {
            identifier: None,
            dates: Some(dates),
            reason: format!(
                "the list shrank both times it was read, and {passed_over} records came only the second time; \
                 others may have been passed over"
            ),
        });
    }

    /// Whether every record is remembered that was given since `met` were met.
    pub(super) fn remembers_since(&self, met: u64) -> bool {
        self.resumed_at <= met && self.met() - met <= super::recent::GENERATION as u64
    }
}
