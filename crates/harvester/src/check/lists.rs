//! The rules of lists, of the records in them, and of sets.

use std::collections::BTreeSet;

use oai::SetSpec;

use super::Check;
use super::answer::{Answer, Record, strict_datestamp};

/// Sets whose lists are looked at.
const SETS: usize = 2;
/// Clocks may differ by this much.
const SLACK_SECONDS: i64 = 300;

impl Check<'_> {
    pub(super) fn lists(&mut self) {
        let prefix = self.facts.prefix.clone();
        let list = [("verb", "ListRecords"), ("metadataPrefix", prefix.as_str())];
        let Some(answer) = self.ask(&list) else {
            return self.skip("records", "ListRecords got no answer that could be read");
        };
        if answer.has_error("noRecordsMatch") {
            return self.skip("records", "the repository is empty");
        }
        if answer.records.is_empty() {
            return self.fail(
                "records",
                format!("ListRecords: {}", answer.summary()),
                &answer.url,
            );
        }
        self.headers(&answer);
        self.metadata(&answer);
        self.facts.records.clone_from(&answer.records);
        self.one_record(&prefix);
        self.further_records(answer);
    }

    pub(super) fn headers(&mut self, answer: &Answer) {
        let mut seen = BTreeSet::new();
        for record in &answer.records {
            let identifier = &record.identifier;
            let finding = if !is_uri(identifier) {
                format!("the identifier `{identifier}` is no URI")
            } else if !seen.insert(identifier) {
                format!("`{identifier}` is twice on one page")
            } else {
                continue;
            };
            return self.fail("headers", finding, &answer.url);
        }
        self.pass("headers");
        match answer
            .records
            .iter()
            .find_map(|record| self.wrong_date(record, answer))
        {
            Some(finding) => self.fail("datestamps", finding, &answer.url),
            None => self.pass("datestamps"),
        }
    }

    fn wrong_date(&self, record: &Record, answer: &Answer) -> Option<String> {
        let Record {
            identifier,
            datestamp,
            ..
        } = record;
        let Some((date, form)) = strict_datestamp(datestamp) else {
            return Some(format!("`{identifier}` has the datestamp `{datestamp}`"));
        };
        if self
            .facts
            .granularity
            .is_some_and(|granularity| granularity != form)
        {
            return Some(format!(
                "the datestamp `{datestamp}` of `{identifier}` is not in the granularity"
            ));
        }
        if self.facts.earliest.is_some_and(|earliest| date < earliest) {
            return Some(format!(
                "the datestamp `{datestamp}` of `{identifier}` is before earliestDatestamp"
            ));
        }
        let (now, _) = answer.response_date?;
        let is_future = date.seconds() > now.seconds() + SLACK_SECONDS;
        is_future.then(|| format!("the datestamp `{datestamp}` of `{identifier}` is in the future"))
    }

    pub(super) fn metadata(&mut self, answer: &Answer) {
        let wrong = answer
            .records
            .iter()
            .find(|record| record.is_deleted == record.has_metadata);
        match wrong {
            Some(record) => {
                let identifier = &record.identifier;
                let finding = match record.is_deleted {
                    true => format!("`{identifier}` is deleted, but has metadata"),
                    false => format!("`{identifier}` has no metadata"),
                };
                self.fail("records", finding, &answer.url);
            }
            None => self.pass("records"),
        }
        self.deletions(answer);
    }

    /// Compares the deleted records of a page with the policy.
    pub(super) fn deletions(&mut self, answer: &Answer) {
        let deleted = answer.records.iter().find(|record| record.is_deleted);
        match (self.facts.deleted_record.as_str(), deleted) {
            ("no", Some(record)) => {
                let finding = format!(
                    "deletedRecord is no, but `{}` is deleted",
                    record.identifier
                );
                self.fail("deletions", finding, &answer.url);
            }
            ("transient" | "persistent", Some(_)) => self.pass("deletions"),
            _ => self.skip("deletions", "no deleted record was met"),
        }
    }

    /// GetRecord and ListMetadataFormats for a record of the list.
    fn one_record(&mut self, prefix: &str) {
        let records = &self.facts.records;
        let Some(record) = records.iter().find(|record| !record.is_deleted).cloned() else {
            return self.skip("get-record", "all records of the first page are deleted");
        };
        let identifier = record.identifier.as_str();
        let get = [
            ("verb", "GetRecord"),
            ("identifier", identifier),
            ("metadataPrefix", prefix),
        ];
        if let Some(answer) = self.ask(&get) {
            match answer.records.as_slice() {
                [given] if given.identifier == record.identifier => self.pass("get-record"),
                [given] => {
                    let finding =
                        format!("`{identifier}` was asked, `{}` was given", given.identifier);
                    self.fail("get-record", finding, &answer.url);
                }
                _ => self.fail("get-record", answer.summary(), &answer.url),
            }
        }
        let formats = [("verb", "ListMetadataFormats"), ("identifier", identifier)];
        if let Some(answer) = self.ask(&formats) {
            match answer.formats.iter().any(|format| format.prefix == prefix) {
                true => self.pass("item-formats"),
                false => {
                    let finding = format!("`{prefix}` is not among the formats of `{identifier}`");
                    self.fail("item-formats", finding, &answer.url);
                }
            }
        }
    }

    pub(super) fn sets(&mut self) {
        let Some(answer) = self.ask(&[("verb", "ListSets")]) else {
            return self.skip("sets", "ListSets got no answer that could be read");
        };
        if answer.has_error("noSetHierarchy") {
            return self.pass("sets");
        }
        if answer.sets.is_empty() {
            return self.fail(
                "sets",
                format!("neither sets nor noSetHierarchy: {}", answer.summary()),
                &answer.url,
            );
        }
        let mut seen = BTreeSet::new();
        for spec in &answer.sets {
            let finding = match (SetSpec::parse(spec).is_some(), seen.insert(spec)) {
                (false, _) => format!("`{spec}` is no legal setSpec"),
                (_, false) => format!("the set `{spec}` is listed twice"),
                _ => continue,
            };
            self.fail("sets", finding, &answer.url);
            break;
        }
        self.pass("sets");
        self.facts.sets = answer.sets;
        self.members();
    }

    fn members(&mut self) {
        let prefix = self.facts.prefix.clone();
        let sets: Vec<_> = self.facts.sets.iter().take(SETS).cloned().collect();
        for set in sets {
            let list = [
                ("verb", "ListIdentifiers"),
                ("metadataPrefix", prefix.as_str()),
                ("set", set.as_str()),
            ];
            let Some(answer) = self.ask(&list) else {
                continue;
            };
            let below = format!("{set}:");
            let is_member = |spec: &String| *spec == set || spec.starts_with(&below);
            let stranger = answer.records.iter().find(|record| {
                // Some repositories forget the sets of deleted records, which the protocol allows.
                !record.is_deleted && !record.sets.iter().any(is_member)
            });
            match stranger {
                Some(record) => {
                    let finding = format!(
                        "the list of the set `{set}` holds `{}`, which does not name it",
                        record.identifier
                    );
                    self.fail("set-members", finding, &answer.url);
                }
                None if !answer.records.is_empty() => self.pass("set-members"),
                None if answer.has_error("noRecordsMatch") => {}
                None => self.fail("set-members", answer.summary(), &answer.url),
            }
        }
    }
}

/// A scheme, a colon and something; no white space.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let mut characters = scheme.chars();
    let begins = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic());
    let legal = characters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    begins && legal && !rest.is_empty() && !text.contains(char::is_whitespace)
}
