//! How long a page may get.

use std::time::{Duration, Instant};

/// Limits of one page; a page always holds at least one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// Bytes of XML, near enough; 0 is no limit.
    pub bytes: u64,
    /// Headers in an answer to ListIdentifiers; 0 is no limit.
    pub identifiers: u64,
    /// Records in an answer to ListRecords; 0 is no limit.
    pub records: u64,
    /// Seconds after which a page ends with what it holds; 0 is no limit. Records of large files and those made
    /// by programs take their time, and harvesters do not wait for ever.
    pub seconds: u64,
    /// Lookups, see [`crate::ItemBatch`], after which a page ends with what it holds; 0 is no limit. Without it, one
    /// page could make another server answer for a whole site.
    pub lookups: u64,
    /// Programs that are run for the records of a page; 0 is no limit.
    pub programs: u64,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self {
            // One record by value may be larger, so harvesters are prepared for it, and each page costs a request.
            bytes: 4 * 1024 * 1024,
            identifiers: 5000,
            records: 1000,
            seconds: 20,
            lookups: 20_000,
            programs: 50,
        }
    }
}

/// The content of a page so far.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) bytes_left: u64,
    entries_left: u64,
    began: Instant,
    time: Option<Duration>,
    lookups: u64,
    programs_left: u64,
    pub(crate) entries: u64,
}

impl Page {
    /// An empty page of a list of so many entries, begun at a moment.
    pub(crate) fn new(limits: &PageLimits, entries: u64, began: Instant) -> Self {
        Self {
            bytes_left: unlimited(limits.bytes),
            entries_left: unlimited(entries),
            began,
            time: (limits.seconds > 0).then(|| Duration::from_secs(limits.seconds)),
            lookups: unlimited(limits.lookups),
            programs_left: unlimited(limits.programs),
            entries: 0,
        }
    }

    /// Admits an entry of `size` bytes unless the page is full; the first entry always fits. `lookups` counts those made
    /// before it was fetched, and `runs_program` says whether a program is run for it.
    pub(crate) fn admit(
        &mut self,
        size: u64,
        now: Instant,
        lookups: u64,
        runs_program: bool,
    ) -> bool {
        let late = self
            .time
            .is_some_and(|time| now.saturating_duration_since(self.began) >= time);
        let full = self.entries_left == 0
            || size > self.bytes_left
            || lookups >= self.lookups
            || (runs_program && self.programs_left == 0);
        if self.entries > 0 && (full || late) {
            return false;
        }
        self.entries += 1;
        self.entries_left = self.entries_left.saturating_sub(1);
        self.bytes_left = self.bytes_left.saturating_sub(size);
        self.programs_left = self.programs_left.saturating_sub(u64::from(runs_program));
        true
    }
}

/// A limit of which 0 means that there is none.
pub(crate) fn unlimited(limit: u64) -> u64 {
    if limit == 0 { u64::MAX } else { limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(bytes: u64, seconds: u64) -> PageLimits {
        PageLimits {
            bytes,
            seconds,
            ..PageLimits::default()
        }
    }

    #[test]
    fn the_first_entry_always_fits() {
        let now = Instant::now();
        let mut page = Page::new(&limits(10, 20), 100, now);
        assert!(page.admit(1000, now + Duration::from_secs(100), 0, false));
        assert!(!page.admit(1, now, 0, false));
    }

    #[test]
    fn a_page_is_cut_by_count_and_by_bytes() {
        let now = Instant::now();
        let mut by_count = Page::new(&limits(0, 0), 2, now);
        assert!(by_count.admit(1, now, 0, false) && by_count.admit(u64::MAX / 4, now, 0, false));
        assert!(!by_count.admit(1, now, 0, false));

        let mut by_bytes = Page::new(&limits(10, 0), 0, now);
        assert!(by_bytes.admit(5, now, 0, false) && by_bytes.admit(5, now, 0, false));
        assert!(!by_bytes.admit(1, now, 0, false));
    }

    #[test]
    fn a_page_is_cut_by_time_unless_there_is_no_limit() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut page = Page::new(&limits(0, 20), 0, began);
        assert!(page.admit(1, after(5), 0, false) && page.admit(1, after(19), 0, false));
        assert!(!page.admit(1, after(20), 0, false));

        let mut unlimited = Page::new(&limits(0, 0), 0, began);
        assert!(unlimited.admit(1, began, 0, false) && unlimited.admit(1, after(86_400), 0, false));
    }

    #[test]
    fn a_page_is_cut_by_lookups_unless_there_is_no_limit() {
        let now = Instant::now();
        let mut lookups = limits(0, 0);
        lookups.lookups = 100;
        let mut page = Page::new(&lookups, 0, now);
        assert!(page.admit(1, now, 5000, false) && page.admit(1, now, 99, false));
        assert!(!page.admit(1, now, 100, false));

        lookups.lookups = 0;
        let mut unlimited = Page::new(&lookups, 0, now);
        assert!(unlimited.admit(1, now, 0, false) && unlimited.admit(1, now, 1_000_000, false));
    }

    #[test]
    fn a_page_is_cut_by_programs() {
        let now = Instant::now();
        let mut two = limits(0, 0);
        two.programs = 2;
        let mut page = Page::new(&two, 0, now);
        assert!(page.admit(1, now, 0, true) && page.admit(1, now, 0, true));
        assert!(page.admit(1, now, 0, false));
        assert!(!page.admit(1, now, 0, true));
    }
}
