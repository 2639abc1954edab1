//! Where one is in a list: pages and the order of rows.

use super::Link;

/// The ways to the pages before and behind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pager {
    /// Where newer, or earlier, rows are.
    pub(crate) previous: Option<Link>,
    /// Where further rows are.
    pub(crate) next: Option<Link>,
    /// What is shown, such as `51–100 of 230`.
    pub(crate) shown: Option<String>,
}

impl Pager {
    /// A list that goes on behind the last row shown, by its number.
    pub(crate) fn by_position(link: &Link, before: Option<i64>, next: Option<i64>) -> Self {
        Self {
            previous: before.map(|_| link.clone().with("before", "")),
            next: next.map(|next| link.clone().with("before", next)),
            shown: None,
        }
    }
}
