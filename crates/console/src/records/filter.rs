//! The filter of the list of records, as forms and addresses have it.

use operations::records::RecordFilter;
use serde::Deserialize;

use crate::parts::filter::{given, since, until};
use crate::parts::{Errors, Link};

/// The filters of a list; empty ones mean nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RecordForm {
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

impl RecordForm {
    /// The filter of the operation, and which fields cannot be read.
    pub(crate) fn parse(&self) -> (RecordFilter, Errors) {
        let mut errors = Errors::default();
        let parsed = RecordFilter {
            repository: self.repository.parse().ok(),
            metadata_prefix: given(&self.prefix),
            set: given(&self.set),
            since: since("since", &self.since, &mut errors),
            until: until("until", &self.until, &mut errors),
            text: given(&self.text),
            harvest: self.harvest.parse().ok(),
            deleted: match self.deleted.as_str() {
                "yes" => Some(true),
                "no" => Some(false),
                _ => None,
            },
            before: self.before.parse().ok(),
            ..RecordFilter::default()
        };
        (parsed, errors)
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
    use operations::Time;

    use super::*;

    #[test]
    fn filters_are_taken_over_and_empty_ones_mean_nothing() {
        let filter = RecordForm {
            text: " coast ".to_owned(),
            deleted: "no".to_owned(),
            until: "1970-01-01".to_owned(),
            ..RecordForm::default()
        };
        let (query, errors) = filter.parse();
        assert!(errors.is_empty());
        assert_eq!(query.text.as_deref(), Some("coast"));
        assert_eq!(query.deleted, Some(false));
        assert_eq!(query.until, Some(Time(86_399)));
        assert!(query.repository.is_none() && query.set.is_none());
        assert!(RecordForm::default().is_empty() && !filter.is_empty());
    }
}
