//! The parts of a page beside its rows: counts and warnings.

use catalog::{Counts, Warning};

/// The parts of a page beside its rows.
#[derive(Default)]
pub(super) struct Page {
    pub(super) counts: Counts,
    pub(super) warnings: Vec<Warning>,
    pub(super) unnamed: u64,
}

impl Page {
    pub(super) fn add(&mut self, other: Self) {
        self.counts += other.counts;
        self.warnings.extend(other.warnings);
        self.unnamed += other.unnamed;
    }

    /// Something could not be had.
    pub(super) fn lose(&mut self, identifier: Option<&str>, reason: String) {
        self.counts.failed += 1;
        self.note(identifier, reason, true);
    }

    /// Something is worth knowing.
    pub(super) fn warn(&mut self, identifier: Option<&str>, reason: String) {
        self.note(identifier, reason, false);
    }

    fn note(&mut self, identifier: Option<&str>, reason: String, lost: bool) {
        // Lost records are asked for again by these lines, so none of them is left out.
        if self.warnings.len() >= MOST_WARNINGS && !lost {
            self.unnamed += 1;
            return;
        }
        self.warnings.push(Warning {
            identifier: identifier.map(str::to_owned),
            reason,
            lost,
        });
    }
}

/// As many warnings of a page are kept.
const MOST_WARNINGS: usize = 10_000;
