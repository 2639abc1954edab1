//! The filter of the history, as forms and addresses have it.

use operations::harvests::{HarvestFilter, HarvestState};
use serde::Deserialize;

use crate::parts::Errors;
use crate::parts::filter::{given, since, until};

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
    /// The filter of the operation, and which fields cannot be read.
    pub(crate) fn parse(&self) -> (HarvestFilter, Errors) {
        let mut errors = Errors::default();
        let parsed = HarvestFilter {
            repository: self.repository.parse().ok(),
            state: HarvestState::parse(&self.state),
            since: since("since", &self.since, &mut errors),
            until: until("until", &self.until, &mut errors),
            text: given(&self.text),
            schedule: self.schedule.parse().ok(),
            job: self.job.parse().ok(),
            before: self.before.parse().ok(),
            limit: None,
        };
        (parsed, errors)
    }
}

#[cfg(test)]
mod tests {
    use operations::Time;

    use super::*;

    #[test]
    fn an_empty_form_asks_for_everything() {
        let filter = HistoryFilter::default();
        let (query, errors) = filter.parse();
        assert!(errors.is_empty());
        assert!(query.repository.is_none() && query.state.is_none() && query.text.is_none());
    }

    #[test]
    fn a_day_is_meant_from_its_beginning_to_its_end() {
        let filter = HistoryFilter {
            since: "1970-01-02".to_owned(),
            until: "1970-01-02".to_owned(),
            state: "failed".to_owned(),
            ..HistoryFilter::default()
        };
        let (query, _) = filter.parse();
        assert_eq!(query.since, Some(Time(86_400)));
        assert_eq!(query.until, Some(Time(2 * 86_400 - 1)));
        assert_eq!(query.state, Some(HarvestState::Failed));
    }

    #[test]
    fn a_date_that_is_none_is_named() {
        let filter = HistoryFilter {
            since: "yesterday".to_owned(),
            ..HistoryFilter::default()
        };
        let (_, errors) = filter.parse();
        assert!(errors.of("since").is_some());
    }
}
