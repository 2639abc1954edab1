//! How long a page may get.

/// Limits of one page; a page always holds at least one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// Bytes of XML, near enough; 0 is no limit.
    pub bytes: u64,
    /// Headers in an answer to ListIdentifiers; 0 is no limit.
    pub identifiers: u64,
    /// Records in an answer to ListRecords; 0 is no limit.
    pub records: u64,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self {
            bytes: 1024 * 1024,
            identifiers: 5000,
            records: 1000,
        }
    }
}

/// What a page holds so far.
#[derive(Debug)]
pub(crate) struct Page {
    bytes_left: u64,
    entries_left: u64,
    pub(crate) entries: u64,
}

impl Page {
    pub(crate) fn new(bytes: u64, entries: u64) -> Self {
        let unlimited = |limit| if limit == 0 { u64::MAX } else { limit };
        Self {
            bytes_left: unlimited(bytes),
            entries_left: unlimited(entries),
            entries: 0,
        }
    }

    /// Takes an entry of a size in, unless the page is full. The first entry always fits.
    pub(crate) fn admit(&mut self, size: u64) -> bool {
        if self.entries > 0 && (self.entries_left == 0 || size > self.bytes_left) {
            return false;
        }
        self.entries += 1;
        self.entries_left = self.entries_left.saturating_sub(1);
        self.bytes_left = self.bytes_left.saturating_sub(size);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_always_fits() {
        let mut page = Page::new(10, 100);
        assert!(page.admit(1000));
        assert!(!page.admit(1));
    }

    #[test]
    fn a_page_is_cut_by_count_and_by_bytes() {
        let mut by_count = Page::new(0, 2);
        assert!(by_count.admit(1) && by_count.admit(u64::MAX / 4));
        assert!(!by_count.admit(1));

        let mut by_bytes = Page::new(10, 0);
        assert!(by_bytes.admit(5) && by_bytes.admit(5));
        assert!(!by_bytes.admit(1));
    }
}
