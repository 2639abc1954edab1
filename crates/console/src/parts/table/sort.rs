//! The order of a list, and the heads of columns that choose it.

use super::{Column, Head, View};
use crate::parts::Link;

/// By which column a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) by: &'static str,
    pub(super) descending: bool,
}

impl<R> Column<R> {
    pub(super) fn head(&self, link: &Link, sort: Sort, default: Sort) -> Head {
        let is_current = sort.by == self.key;
        let link = self.sort.map(|first| {
            let descending = if is_current { !sort.descending } else { first };
            let by = Sort {
                by: self.key,
                descending,
            };
            link.clone().with("sort", by.word(default))
        });
        Head {
            heading: self.heading,
            direction: match (link.is_some() && is_current, sort.descending) {
                (false, _) => "none",
                (true, false) => "ascending",
                (true, true) => "descending",
            },
            link,
            is_number: self.is_number,
        }
    }

    /// Both orders by it, to choose from where there is no room for heads.
    pub(super) fn sorts(&self, default: Sort) -> Vec<(String, String)> {
        let Some(first) = self.sort else {
            return Vec::new();
        };
        let order = |descending| {
            let by = Sort {
                by: self.key,
                descending,
            };
            let arrow = if descending { "▼" } else { "▲" };
            (by.word(default), format!("{} {arrow}", self.heading))
        };
        vec![order(first), order(!first)]
    }
}

impl Sort {
    /// The order that `word` asks for; an unknown one is none.
    pub(super) fn asked<R>(self, columns: &[Column<R>], word: &str) -> Self {
        let (by, descending) = match word.strip_prefix('-') {
            Some(by) => (by, true),
            None => (word, false),
        };
        let mut sorted = columns.iter().filter(|column| column.sort.is_some());
        match sorted.find(|column| column.key == by) {
            Some(column) => Self {
                by: column.key,
                descending,
            },
            None => self,
        }
    }

    /// The order as addresses have it: a minus before the key sorts the largest first. The `default` has no word.
    pub(super) fn word(self, default: Self) -> String {
        match (self == default, self.descending) {
            (true, _) => String::new(),
            (false, true) => format!("-{}", self.by),
            (false, false) => self.by.to_owned(),
        }
    }

    pub(super) fn view<R>(self, columns: &[Column<R>], word: &str) -> View {
        let sort = self.asked(columns, word);
        View {
            sort: Some(sort.by.to_owned()).filter(|by| !by.is_empty()),
            descending: Some(sort.descending),
            ..View::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Typed;
    use crate::parts::table::{Cell, Filters};

    #[test]
    fn a_column_is_sorted_the_other_way_when_asked_again() {
        let default = Sort {
            by: "name",
            descending: false,
        };
        let name = Column::new("name", "Name", |_: &i64| Cell::None("")).smallest_first();
        let size = Column::new("size", "Size", |_: &i64| Cell::None("")).largest_first();
        let link = Link::to("/x");
        let columns = [name, size];

        let sort = default.asked(&columns, "-size");

        let heads = columns
            .each_ref()
            .map(|column| column.head(&link, sort, default));
        let links = heads
            .each_ref()
            .map(|head| head.link.as_ref().unwrap().to_string());
        assert_eq!(links, ["/x", "/x?sort=size"]);
        assert_eq!(heads.map(|head| head.direction), ["none", "descending"]);
        assert_eq!(default.asked(&columns, "elsewhere"), default);
        let filters = Filters::new(Typed::default());
        assert!(filters.link("/x").parameters().is_empty());
    }
}
