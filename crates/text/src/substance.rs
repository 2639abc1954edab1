//! Whether a text says anything, or is what little stands on the pages of a scan.

use std::collections::HashSet;

/// Whether there is so little text that its pages may be images.
///
/// Lines that stand on every page, such as those of libraries that digitise books, count once.
pub(super) fn is_thin(text: &str, pages: u32) -> bool {
    let enough = FEW.max(FEW_ON_A_PAGE.saturating_mul(pages as usize));
    let mut seen = HashSet::new();
    let mut found = 0;
    for line in text.lines().map(str::trim) {
        if seen.insert(line) {
            found += line.chars().filter(|c| c.is_alphanumeric()).count();
        }
        if found >= enough {
            return false;
        }
    }
    true
}

/// The original took documents with less text than that for failures.
const FEW: usize = 50;
const FEW_ON_A_PAGE: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_on_each_page_makes_no_text() {
        let marked = "Digitized by the library of the university\n\x0C".repeat(40);
        assert!(is_thin(&marked, 40));
        assert!(is_thin("", 0));
    }

    #[test]
    fn a_short_letter_is_text() {
        let letter =
            "Dear Sir,\nplease find enclosed the proofs of the paper that you sent us.\n\x0C";
        assert!(!is_thin(letter, 1));
    }
}
