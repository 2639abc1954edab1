//! The rules of selective harvesting: from, until, and their granularity.

use oai::Granularity;

use super::Check;
use super::answer::{Answer, strict_datestamp};

impl Check<'_> {
    pub(super) fn dates(&mut self) {
        let Some(granularity) = self.facts.granularity else {
            return self.skip("from-until", "the granularity is unknown");
        };
        self.wrong_dates(granularity);
        // A record in the middle: the first and the last are more often special.
        let dated: Vec<_> = self
            .facts
            .records
            .iter()
            .filter(|record| {
                strict_datestamp(&record.datestamp).is_some_and(|(_, form)| form == granularity)
            })
            .collect();
        let Some(record) = dated.get(dated.len() / 2) else {
            return self.skip("from-until", "no record with a datestamp was met");
        };
        let (identifier, datestamp) = (record.identifier.clone(), record.datestamp.clone());
        self.bounds(&identifier, &datestamp);
        if granularity == Granularity::Second {
            self.day(&datestamp);
        }
    }

    /// Lists of exactly the moment of a record, and from and until it.
    fn bounds(&mut self, identifier: &str, datestamp: &str) {
        let moment = strict_datestamp(datestamp).map(|(moment, _)| moment);
        for (from, until) in [(true, true), (true, false), (false, true)] {
            let mut dates = Vec::new();
            if from {
                dates.push(("from", datestamp));
            }
            if until {
                dates.push(("until", datestamp));
            }
            let Some(answer) = self.list(&dates) else {
                continue;
            };
            let outside = answer.records.iter().find(|record| {
                let date = strict_datestamp(&record.datestamp).map(|(date, _)| date);
                (from && date < moment) || (until && date > moment)
            });
            let holds = answer
                .records
                .iter()
                .any(|record| record.identifier == identifier);
            let goes_on = answer
                .token
                .as_ref()
                .is_some_and(|token| !token.text.is_empty());
            let finding = match outside {
                Some(record) => format!(
                    "`{}` with the datestamp {} is outside of the dates",
                    record.identifier, record.datestamp
                ),
                // The record may be on a later page.
                None if holds || (goes_on && !answer.records.is_empty()) => {
                    self.pass("from-until");
                    continue;
                }
                None => format!(
                    "`{identifier}` with the datestamp {datestamp} is missing: {}",
                    answer.summary()
                ),
            };
            self.fail("from-until", finding, &answer.url);
        }
    }

    /// The day of a record, as dates without a time.
    fn day(&mut self, datestamp: &str) {
        let day = datestamp.get(..10).unwrap_or_default();
        let Some(answer) = self.list(&[("from", day), ("until", day)]) else {
            return;
        };
        match answer.records.is_empty() {
            false => self.pass("day-dates"),
            true => {
                let finding = format!("records of {day} are there, but {}", answer.summary());
                self.fail("day-dates", finding, &answer.url);
            }
        }
    }

    fn wrong_dates(&mut self, granularity: Granularity) {
        let prefix = self.facts.prefix.clone();
        let list = |dates: &[(&'static str, &'static str)]| {
            let mut arguments = vec![
                ("verb".to_owned(), "ListIdentifiers".to_owned()),
                ("metadataPrefix".to_owned(), prefix.clone()),
            ];
            let dates = dates.iter();
            arguments.extend(dates.map(|(name, date)| ((*name).to_owned(), (*date).to_owned())));
            arguments
        };
        let too_fine = match granularity {
            Granularity::Day => vec![("from", "2001-01-01T00:00:00Z")],
            Granularity::Second => vec![("from", "2001-01-01T00:00:00.0Z")],
        };
        let mut cases = vec![
            (
                "future",
                list(&[("from", "2999-01-01")]),
                &["noRecordsMatch"][..],
            ),
            (
                "date-order",
                list(&[("from", "2001-01-02"), ("until", "2001-01-01")]),
                &["badArgument"],
            ),
            (
                "date-form",
                list(&[("from", "yesterday")]),
                &["badArgument"],
            ),
            (
                "date-form",
                list(&[("until", "2001-02-30")]),
                &["badArgument"],
            ),
            ("date-form", list(&too_fine), &["badArgument"]),
        ];
        if granularity == Granularity::Second {
            let mixed = list(&[("from", "2001-01-01"), ("until", "2001-01-02T00:00:00Z")]);
            cases.push(("date-form", mixed, &["badArgument"]));
        }
        for (rule, arguments, codes) in cases {
            let arguments: Vec<_> = arguments
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .collect();
            self.expect_error(rule, &arguments, codes);
        }
    }

    fn list(&mut self, dates: &[(&str, &str)]) -> Option<Answer> {
        let prefix = self.facts.prefix.clone();
        let mut arguments = vec![
            ("verb", "ListIdentifiers"),
            ("metadataPrefix", prefix.as_str()),
        ];
        arguments.extend_from_slice(dates);
        self.ask(&arguments)
    }
}
