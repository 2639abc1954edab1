//! Which entries of the history are wanted, as the address of a list says it.

use catalog::{HistoryQuery, State};
use serde::Deserialize;

use crate::parts::{Errors, Link};
use crate::schedules::moment;

/// The filters of a list; empty ones mean nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HistoryFilter {
    pub(crate) repository: String,
    pub(crate) state: String,
    pub(crate) since: String,
    pub(crate) until: String,
    pub(crate) text: String,
    pub(crate) schedule: String,
    pub(crate) job: String,
    pub(crate) before: String,
}

impl HistoryFilter {
    /// The query, and what cannot be read of the filters.
    pub(crate) fn query(&self, limit: u64) -> (HistoryQuery, Errors) {
        let mut errors = Errors::default();
        let mut time = |field: &'static str, text: &str| {
            let text = text.trim();
            let time = moment(text);
            if time.is_none() && !text.is_empty() {
                errors.add(field, format!("`{text}` is not a date"));
            }
            time
        };
        let query = HistoryQuery {
            repository: self.repository.parse().ok(),
            state: State::ALL
                .into_iter()
                .find(|state| state.name() == self.state),
            since: time("since", &self.since),
            until: time("until", &self.until).map(|until| end(until, &self.until)),
            text: Some(self.text.trim().to_owned()).filter(|text| !text.is_empty()),
            schedule: self.schedule.parse().ok(),
            job: self.job.parse().ok(),
            before: self.before.parse().ok(),
            limit,
        };
        (query, errors)
    }

    /// A place with the same filters, from its first page.
    pub(crate) fn link(&self, path: &str) -> Link {
        Link::to(path)
            .with("repository", &self.repository)
            .with("state", &self.state)
            .with("since", &self.since)
            .with("until", &self.until)
            .with("text", &self.text)
            .with("schedule", &self.schedule)
            .with("job", &self.job)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.link("").parameters().is_empty()
    }
}

/// A day includes its last second.
fn end(until: i64, text: &str) -> i64 {
    match text.trim().len() {
        10 => until + 86_399,
        _ => until,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_form_asks_for_everything() {
        let filter = HistoryFilter::default();
        let (query, errors) = filter.query(7);
        assert!(errors.is_empty() && filter.is_empty());
        assert!(query.repository.is_none() && query.state.is_none() && query.text.is_none());
        assert_eq!(query.limit, 7);
    }

    #[test]
    fn a_day_is_meant_from_its_beginning_to_its_end() {
        let filter = HistoryFilter {
            since: "1970-01-02".to_owned(),
            until: "1970-01-02".to_owned(),
            state: "failed".to_owned(),
            ..HistoryFilter::default()
        };
        let (query, _) = filter.query(1);
        assert_eq!(query.since, Some(86_400));
        assert_eq!(query.until, Some(2 * 86_400 - 1));
        assert_eq!(query.state, Some(State::Failed));
        assert_eq!(
            filter.link("/history").to_string(),
            "/history?state=failed&since=1970-01-02&until=1970-01-02"
        );
    }

    #[test]
    fn a_date_that_is_none_is_named() {
        let filter = HistoryFilter {
            since: "yesterday".to_owned(),
            ..HistoryFilter::default()
        };
        let (_, errors) = filter.query(1);
        assert!(errors.of("since").is_some());
    }
}
