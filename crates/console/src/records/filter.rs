//! Which records are wanted, as the address of a list says it.

use catalog::{Order, RecordQuery};
use serde::Deserialize;

use crate::parts::{Errors, Link};
use crate::schedules::moment;

/// The filters of a list; empty ones mean nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RecordFilter {
    pub(crate) text: String,
    pub(crate) repository: String,
    pub(crate) prefix: String,
    pub(crate) set: String,
    pub(crate) since: String,
    pub(crate) until: String,
    /// `yes`, `no` or both
    pub(crate) deleted: String,
    /// Those that a harvest found to be new or changed.
    pub(crate) harvest: String,
    pub(crate) before: String,
}

impl RecordFilter {
    /// The query, and what cannot be read of the filters.
    pub(crate) fn query(&self, limit: u64) -> (RecordQuery, Errors) {
        let mut errors = Errors::default();
        let mut time = |field: &'static str, text: &str| {
            let text = text.trim();
            let time = moment(text);
            if time.is_none() && !text.is_empty() {
                errors.add(field, format!("`{text}` is not a date"));
            }
            time
        };
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let query = RecordQuery {
            repository: self.repository.parse().ok(),
            metadata_prefix: text(&self.prefix),
            set: text(&self.set),
            since: time("since", &self.since),
            until: time("until", &self.until).map(|until| match self.until.trim().len() {
                // A day includes its last second.
                10 => until + 86_399,
                _ => until,
            }),
            text: text(&self.text),
            changed_by: self.harvest.parse().ok(),
            deleted: match self.deleted.as_str() {
                "yes" => Some(true),
                "no" => Some(false),
                _ => None,
            },
            before: self.before.parse().ok(),
            order: Order::Newest,
            limit,
            ..RecordQuery::default()
        };
        (query, errors)
    }

    /// The list with the same filters, from its first page.
    pub(crate) fn link(&self) -> Link {
        Link::to("/records")
            .with("text", &self.text)
            .with("repository", &self.repository)
            .with("prefix", &self.prefix)
            .with("set", &self.set)
            .with("since", &self.since)
            .with("until", &self.until)
            .with("deleted", &self.deleted)
            .with("harvest", &self.harvest)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.link().parameters().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_taken_over_and_empty_ones_mean_nothing() {
        let filter = RecordFilter {
            text: " coast ".to_owned(),
            deleted: "no".to_owned(),
            until: "1970-01-01".to_owned(),
            ..RecordFilter::default()
        };
        let (query, errors) = filter.query(5);
        assert!(errors.is_empty());
        assert_eq!(query.text.as_deref(), Some("coast"));
        assert_eq!(query.deleted, Some(false));
        assert_eq!(query.until, Some(86_399));
        assert!(query.repository.is_none() && query.set.is_none());
        assert!(RecordFilter::default().is_empty() && !filter.is_empty());
    }
}
