//! Pages of a list: where one begins, as its address says, and those before and behind.

use operations::Listed;

use crate::filters;
use crate::parts::{Link, Typed};

/// The pages before and behind, and what is shown.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub(crate) first: Option<Link>,
    pub(crate) previous: Option<Link>,
    pub(crate) next: Option<Link>,
    /// For example `51–100 of 10 000+ documents`.
    pub(crate) shown: String,
}

/// Where a page begins, as its address says.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// The rows before it.
    pub(super) at: u64,
    /// The `next` of the page before, in lists that go on behind a row.
    pub(super) page: Option<i64>,
    /// The places of the pages before it, the first one left out.
    pub(super) trail: Vec<i64>,
}

impl Place {
    pub(super) fn parse(asked: &Typed) -> Self {
        let trail = asked.get("trail").split('.');
        Self {
            at: asked.get("at").parse().unwrap_or(0),
            page: asked.get("page").parse().ok(),
            trail: trail.filter_map(|place| place.parse().ok()).collect(),
        }
    }

    /// The link to this place in a list.
    pub(super) fn link(&self, list: &Link) -> Link {
        let trail: Vec<_> = self.trail.iter().map(ToString::to_string).collect();
        list.clone()
            .with_some("page", self.page)
            .with_some("at", (self.at > 0).then_some(self.at))
            .with("trail", trail.join("."))
    }

    /// The place of the page behind, which begins `at` this row and is told by `next`.
    pub(super) fn next(&self, at: u64, next: Option<i64>) -> Self {
        let mut trail = self.trail.clone();
        trail.extend(self.page);
        let skipped = trail.len().saturating_sub(LONGEST_TRAIL);
        Self {
            at,
            page: next,
            trail: trail.split_off(skipped),
        }
    }

    pub(super) fn previous(&self, size: u64) -> Self {
        let mut trail = self.trail.clone();
        Self {
            at: self.at.saturating_sub(size),
            page: trail.pop(),
            trail,
        }
    }
}

/// The pages around a place. In a list `by_row`, the `next` of a page names a row, elsewhere the number of rows.
pub(super) fn pages<R>(
    link: &Link,
    place: &Place,
    by_row: bool,
    size: u64,
    listed: &Listed<R>,
    [one, many]: [&str; 2],
) -> Pages {
    let at = place.at;
    let end = at + listed.items.len() as u64;
    let next = listed
        .next
        .map(|next| place.next(end, by_row.then_some(next)));
    let is_first = at == 0 && place.page.is_none();
    let previous = (!is_first).then(|| place.previous(size));
    let number = |number: u64| filters::grouped(&number.to_string());
    let more = if listed.is_more { "+" } else { "" };
    let range = format!("{}–{}", number(at + 1), number(end));
    let shown = match listed.total {
        _ if listed.items.is_empty() => String::new(),
        Some(1) => format!("1 {one}"),
        Some(total) if is_first && end == total && more.is_empty() => {
            format!("{} {many}", number(total))
        }
        // Rows come and go while one turns pages.
        Some(total) => format!("{range} of {}{more} {many}", number(total.max(end))),
        None if is_first && next.is_none() => format!("{} {many}", number(end)),
        None => range,
    };
    Pages {
        first: previous.is_some().then(|| link.clone()),
        previous: previous.map(|previous| previous.link(link)),
        next: next.map(|next| next.link(link)),
        shown,
    }
}

/// The pages before are remembered up to so many.
const LONGEST_TRAIL: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(rows: usize, total: Option<u64>, next: Option<i64>) -> Listed<i64> {
        Listed {
            items: vec![0; rows],
            total,
            next,
            ..Listed::none()
        }
    }

    #[test]
    fn pages_by_numbers_end_where_the_list_does() {
        let link = Link::to("/repositories").with("text", "x");
        let words = ["repository", "repositories"];
        let at = |at| Place {
            at,
            ..Place::default()
        };

        let pager = pages(
            &link,
            &at(50),
            false,
            50,
            &listed(50, Some(120), Some(100)),
            words,
        );

        assert_eq!(pager.previous.unwrap().to_string(), "/repositories?text=x");
        let next = pager.next.unwrap().to_string();
        assert_eq!(next, "/repositories?text=x&at=100");
        assert_eq!(pager.shown, "51–100 of 120 repositories");
        let last = pages(
            &link,
            &at(100),
            false,
            50,
            &listed(20, Some(120), None),
            words,
        );
        assert!(last.next.is_none() && last.first.is_some());
        let one = pages(&link, &at(0), false, 50, &listed(1, Some(1), None), words);
        assert_eq!(one.shown, "1 repository");
    }

    #[test]
    fn pages_behind_a_row_know_the_way_back_and_that_more_rows_were_not_counted() {
        let link = Link::to("/documents");
        let listed = Listed {
            is_more: true,
            ..listed(50, Some(10_000), Some(170))
        };
        let mut asked = Typed::default();
        asked.set("at", "100");
        asked.set("page", "120");
        asked.set("trail", "60");

        let place = Place::parse(&asked);
        let pager = pages(&link, &place, true, 50, &listed, ["document", "documents"]);

        assert_eq!(pager.shown, "101–150 of 10\u{202f}000+ documents");
        let previous = pager.previous.unwrap().to_string();
        assert_eq!(previous, "/documents?page=60&at=50");
        let next = pager.next.unwrap().to_string();
        assert_eq!(next, "/documents?page=170&at=150&trail=60.120");
    }
}
