//! A table as its template shows it.

use super::filter::{Filter, FilterKind, Filters};
use super::{Bulk, Empty, Pages, with_way_back};
use crate::parts::{Errors, Link};

/// A table as its template shows it.
pub(crate) struct Shown {
    pub(crate) path: String,
    pub(super) words: [&'static str; 2],
    pub(crate) filters: Filters,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Row>,
    pub(crate) bulk: Vec<Bulk>,
    pub(crate) pager: Pages,
    /// This page, to which actions return.
    pub(crate) here: String,
    pub(crate) every: u32,
    /// The whole result, in each form.
    pub(crate) exports: [(&'static str, Link); 2],
    pub(crate) sizes: Vec<(u64, Link)>,
    pub(crate) size: u64,
    pub(crate) sorts: Vec<(String, String)>,
    pub(crate) sorted: String,
    pub(super) empty: Option<Empty>,
    /// Why there are no rows.
    pub(crate) failure: Option<String>,
}

/// The head of a column.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) heading: &'static str,
    /// Where the list is sorted by it.
    pub(crate) link: Option<Link>,
    /// The value of `aria-sort`.
    pub(crate) direction: &'static str,
    pub(crate) is_number: bool,
}

/// A row.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) cells: Vec<ShownCell>,
    pub(crate) below: Option<String>,
    /// Its name, for those who do not see it beside the box that chooses it.
    pub(crate) name: String,
}

/// A cell; its HTML is escaped already.
#[derive(Debug)]
pub(crate) struct ShownCell {
    pub(crate) heading: &'static str,
    pub(crate) html: String,
    pub(crate) is_number: bool,
    pub(crate) is_heading: bool,
    pub(crate) class: &'static str,
}

impl Shown {
    pub(crate) fn is_filtered(&self) -> bool {
        let link = self.filters.link("");
        !link.parameters().is_empty() || !self.errors().is_empty()
    }

    pub(crate) fn errors(&self) -> &Errors {
        &self.filters.errors
    }

    /// Describes the filters that links set.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &str> {
        self.filters
            .all
            .iter()
            .filter_map(|filter| match &filter.kind {
                FilterKind::Kept(note) if !note.is_empty() => Some(note.as_str()),
                _ => None,
            })
    }

    /// Whether the form has a filter that one can fill in.
    pub(crate) fn has_filters(&self) -> bool {
        let mut all = self.filters.all.iter();
        all.any(|filter| !matches!(filter.kind, FilterKind::Kept(_)))
    }

    pub(crate) fn has_folded(&self) -> bool {
        self.filters.all.iter().any(Filter::is_folded)
    }

    /// An address that leads back to this page afterwards.
    pub(crate) fn with_way_back(&self, to: &str) -> String {
        with_way_back(to, &self.here)
    }

    pub(crate) fn many(&self) -> &'static str {
        self.words[1]
    }

    pub(crate) fn empty_message(&self) -> String {
        match &self.empty {
            Some(empty) => empty.message.clone(),
            None => format!("No {} yet.", self.words[1]),
        }
    }

    pub(crate) fn empty_step(&self) -> Option<(&'static str, &'static str)> {
        self.empty.as_ref().and_then(|empty| empty.step)
    }
}
