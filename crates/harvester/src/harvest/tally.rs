//! How many records a list announces and how many came: whether some may have been passed over.

use serde::{Deserialize, Serialize};

use super::run::Harvest;
use super::window::Window;
use crate::Quirk;
use crate::record::{Header, LeftOut};

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
    /// How many records changed and came once more, so that as many others may have been passed over.
    #[serde(default)]
    pub(super) moved: u64,
    /// How many came once more as they were, since the list began or was begun anew.
    #[serde(default)]
    doubled: u64,
    /// How many fresh ones are older than the harvest, so that an earlier reading passed them over.
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

    /// The list goes on by date.
    pub(super) fn begin_behind(&mut self) {
        self.fresh = 0;
        self.doubled = 0;
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

    /// Notes the identifier of a record in a list, and whether it was there before.
    pub(super) fn note_listed(&mut self, header: &Header, key: u64) {
        let granularity = self.state.granularity();
        let began = self.state.began;
        let is_late = began.is_some_and(|began| {
            let began = super::window::start_of(began, granularity);
            header
                .moment()
                .is_some_and(|moment| moment.seconds() >= began)
        });
        if !self.listed.insert(&header.identifier, is_late) {
            return;
        }
        let has_moved = is_late && !self.recent.contains(key);
        if let Some(window) = self.state.windows.last_mut() {
            match has_moved {
                true => window.tally.moved += 1,
                false => window.tally.doubled += 1,
            }
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

    /// How many records of a list came, each counted once.
    pub(super) fn counted(&self, window: &Window) -> u64 {
        let Tally {
            before,
            moved,
            doubled,
            ..
        } = window.tally;
        let on_pages = window.given.saturating_sub(moved + doubled);
        match before {
            // The pages before a restart are counted by what they gave.
            Some((met, _)) if window.restarts > 0 => {
                on_pages.max(self.met().saturating_sub(met + moved))
            }
            _ => on_pages,
        }
    }

    /// Whether fewer records of a list came than it announced as it began.
    fn is_short(&self, window: &Window) -> bool {
        (self.size_without_holes(window)).is_some_and(|size| self.counted(window) < size)
    }

    /// Whether so few came that records that moved do not explain it.
    pub(super) fn ended_early(&self, window: &Window) -> bool {
        let came = self.counted(window) + window.tally.moved;
        (self.size_without_holes(window)).is_some_and(|size| came < size)
    }

    /// How many records a list announced as it began, unless a part of it was given up: that is told, and nobody knows how many
    /// records it has.
    fn size_without_holes(&self, window: &Window) -> Option<u64> {
        let holes = window.tally.before.map(|(_, holes)| holes);
        let has_holes = holes.is_some_and(|holes| holes != self.state.holes);
        window.tally.size.filter(|_| !has_holes)
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
        // Records that moved are no fault of the sizes.
        let has_moved = self.is_short(&window) && !self.ended_early(&window);
        match window.pass {
            Pass::First if has_moved => {}
            Pass::Again if has_moved => {
                self.page.quirks.add(Quirk::RecordsMoved);
                self.tell_passed_over(&window);
                return false;
            }
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
        self.page.quirks.add(match has_moved {
            true => Quirk::RecordsMoved,
            false => Quirk::ListShrank,
        });
        let ordered = self.state.ordered() && window.in_order && window.restarts == 0;
        let sound = window
            .tally
            .sound_until
            .filter(|_| ordered && window.tally.shrank && window.tally.moved == 0);
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
        self.listed.forget();
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
                "records vanished from the list or moved in it both times it was read, and {passed_over} came only the second \
                 time; others may have been passed over"
            ),
        });
    }

    /// Whether every record is remembered that was given since `met` were met.
    pub(super) fn remembers_since(&self, met: u64) -> bool {
        self.resumed_at <= met && self.met() - met <= super::recent::GENERATION as u64
    }
}
