//! Where one is in a list: pages and the order of rows.

use super::Link;

/// The ways to the pages before and behind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pager {
    /// Where newer, or earlier, rows are.
    pub(crate) previous: Option<Link>,
    /// Where further rows are.
    pub(crate) next: Option<Link>,
}

impl Pager {
    /// A list that goes on after a number, in the order of numbers; 0 is its beginning.
    pub(crate) fn by_number(link: &Link, after: i64, next: Option<i64>) -> Self {
        Self {
            previous: (after > 0).then(|| link.clone().with("after", "")),
            next: next.map(|next| link.clone().with("after", next)),
        }
    }
}
