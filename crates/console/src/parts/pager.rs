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
    /// A list by offsets, of which so many rows are on a page.
    pub(crate) fn by_offset(
        link: &Link,
        offset: u64,
        limit: u64,
        shown: usize,
        total: u64,
    ) -> Self {
        let end = offset + shown as u64;
        let at = |offset: u64| {
            let value = (offset > 0).then_some(offset);
            link.clone().with_some("offset", value)
        };
        Self {
            previous: (offset > 0).then(|| at(offset.saturating_sub(limit))),
            next: (end < total).then(|| at(end)),
            shown: (shown > 0).then(|| format!("{}–{end} of {total}", offset + 1)),
        }
    }

    /// A list that goes on behind the last row shown, by its number.
    pub(crate) fn by_position(link: &Link, before: Option<i64>, next: Option<i64>) -> Self {
        Self {
            previous: before.map(|_| link.clone().with("before", "")),
            next: next.map(|next| link.clone().with("before", next)),
            shown: None,
        }
    }

    /// A list that goes on after a number, in the order of numbers; 0 is its beginning.
    pub(crate) fn by_number(link: &Link, after: i64, next: Option<i64>) -> Self {
        Self {
            previous: (after > 0).then(|| link.clone().with("after", "")),
            next: next.map(|next| link.clone().with("after", next)),
            shown: None,
        }
    }
}

/// By which column a table is sorted.
#[derive(Debug, Clone)]
pub(crate) struct Sorting {
    /// The list without an order.
    pub(crate) link: Link,
    /// The column.
    pub(crate) by: String,
    /// Whether the largest comes first.
    pub(crate) descending: bool,
}

impl Sorting {
    /// Where the list is sorted by a column; the other way round if it is already.
    pub(crate) fn link_by(&self, column: &str) -> Link {
        let descending = self.by == column && !self.descending;
        let direction = if descending { "descending" } else { "" };
        self.link
            .clone()
            .with("sort", column)
            .with("order", direction)
    }

    /// The value of `aria-sort`.
    pub(crate) fn direction(&self, column: &str) -> &'static str {
        match (self.by == column, self.descending) {
            (false, _) => "none",
            (true, false) => "ascending",
            (true, true) => "descending",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_by_offset_end_where_the_list_does() {
        let link = Link::to("/repositories").with("text", "x");
        let pager = Pager::by_offset(&link, 50, 50, 50, 120);
        assert_eq!(pager.previous.unwrap().to_string(), "/repositories?text=x");
        assert_eq!(
            pager.next.unwrap().to_string(),
            "/repositories?text=x&offset=100"
        );
        assert_eq!(pager.shown.as_deref(), Some("51–100 of 120"));
        let pager = Pager::by_offset(&link, 100, 50, 20, 120);
        assert!(pager.next.is_none());
    }

    #[test]
    fn a_column_is_sorted_the_other_way_when_asked_again() {
        let sorting = Sorting {
            link: Link::to("/repositories"),
            by: "name".to_owned(),
            descending: false,
        };
        let again = sorting.link_by("name").to_string();
        assert_eq!(again, "/repositories?sort=name&order=descending");
        assert_eq!(
            sorting.link_by("records").to_string(),
            "/repositories?sort=records"
        );
        assert_eq!(sorting.direction("name"), "ascending");
        assert_eq!(sorting.direction("records"), "none");
    }
}
