//! The rules of Identify and ListMetadataFormats.

use oai::Granularity;

use super::Check;
use super::answer::{Answer, strict_datestamp};
use crate::Error;

/// The required elements, in the order of the schema.
const REQUIRED: [&str; 7] = [
    "repositoryName",
    "baseURL",
    "protocolVersion",
    "adminEmail",
    "earliestDatestamp",
    "deletedRecord",
    "granularity",
];

impl Check<'_> {
    /// Asks for Identify; false if the answer is none of a repository.
    pub(super) fn identify(&mut self) -> Result<bool, Error> {
        let answer = self.ask(&[("verb", "Identify")]);
        if let Some(error) = self.stopped.take() {
            return Err(error);
        }
        let Some(answer) = answer.filter(|answer| answer.verb == "Identify") else {
            let finding = "there is no answer to Identify that can be read".to_owned();
            let url = super::url(self.repository, &[("verb", "Identify")]);
            self.fail("identify", finding, &url);
            return Ok(false);
        };
        self.elements(&answer);
        self.values(&answer);
        Ok(true)
    }

    fn elements(&mut self, answer: &Answer) {
        let names: Vec<_> = answer.facts.iter().map(|(name, _)| name.as_str()).collect();
        let missing: Vec<_> = REQUIRED
            .iter()
            .filter(|name| !names.contains(name))
            .collect();
        if let Some(name) = missing.first() {
            return self.fail("identify", format!("`{name}` is missing"), &answer.url);
        }
        let place = |name: &&str| {
            let all = REQUIRED.iter().chain(&["compression", "description"]);
            all.into_iter().position(|candidate| candidate == name)
        };
        let places: Vec<_> = names.iter().map(place).collect();
        match (places.contains(&None), places.is_sorted()) {
            (true, _) => self.fail(
                "identify",
                "it has elements that the schema does not know".to_owned(),
                &answer.url,
            ),
            (_, false) => self.fail(
                "identify",
                "its elements are not in the order of the schema".to_owned(),
                &answer.url,
            ),
            _ => self.pass("identify"),
        }
    }

    fn values(&mut self, answer: &Answer) {
        let fact = |name: &str| {
            let fact = answer.facts.iter().find(|(candidate, _)| candidate == name);
            fact.map_or("", |(_, text)| text.as_str())
        };
        let url = &answer.url;
        self.facts.name = Some(fact("repositoryName").to_owned()).filter(|name| !name.is_empty());
        let asked = self.repository.base_url();
        let told = fact("baseURL");
        match told.trim_end_matches('/') == asked.trim_end_matches('/') {
            true => self.pass("base-url"),
            false => self.warn(
                "base-url",
                format!("it says `{told}`; `{asked}` was asked"),
                url,
            ),
        }
        self.decide(
            "version",
            fact("protocolVersion") == "2.0",
            fact("protocolVersion"),
            url,
        );
        let emails = answer.facts.iter().filter(|(name, _)| name == "adminEmail");
        let bad = emails
            .map(|(_, email)| email)
            .find(|email| !is_email(email));
        self.decide(
            "admin-email",
            bad.is_none(),
            bad.map_or("", String::as_str),
            url,
        );
        let policy = fact("deletedRecord");
        policy.clone_into(&mut self.facts.deleted_record);
        let known = ["no", "transient", "persistent"].contains(&policy);
        self.decide("deleted-record", known, policy, url);
        self.facts.granularity = match fact("granularity") {
            "YYYY-MM-DD" => Some(Granularity::Day),
            "YYYY-MM-DDThh:mm:ssZ" => Some(Granularity::Second),
            _ => None,
        };
        let known = self.facts.granularity.is_some();
        self.decide("granularity", known, fact("granularity"), url);
        let earliest = strict_datestamp(fact("earliestDatestamp"));
        let fits =
            earliest.is_some_and(|(_, form)| self.facts.granularity.is_none_or(|g| g == form));
        self.facts.earliest = earliest.map(|(datestamp, _)| datestamp);
        self.decide("earliest", fits, fact("earliestDatestamp"), url);
    }

    /// Passes a rule, or breaks it by a value.
    fn decide(&mut self, rule: &'static str, holds: bool, value: &str, url: &str) {
        match holds {
            true => self.pass(rule),
            false => self.fail(rule, format!("it says `{value}`"), url),
        }
    }

    pub(super) fn formats(&mut self) {
        let Some(answer) = self.ask(&[("verb", "ListMetadataFormats")]) else {
            self.facts.prefix = "oai_dc".to_owned();
            return self.skip(
                "formats",
                "ListMetadataFormats got no answer that could be read",
            );
        };
        let url = &answer.url;
        let incomplete = answer.formats.iter().find(|format| {
            format.prefix.is_empty() || format.schema.is_empty() || format.namespace.is_empty()
        });
        let has_dublin_core = answer
            .formats
            .iter()
            .any(|format| format.prefix == "oai_dc");
        match (has_dublin_core, incomplete) {
            (true, None) => self.pass("formats"),
            (false, _) => self.fail("formats", "oai_dc is not offered".to_owned(), url),
            (_, Some(format)) => {
                let finding = format!(
                    "the format `{}` lacks its schema or namespace",
                    format.prefix
                );
                self.fail("formats", finding, url);
            }
        }
        let first = answer.formats.first().map(|format| format.prefix.clone());
        self.facts.prefix = match has_dublin_core {
            true => "oai_dc".to_owned(),
            false => first.unwrap_or_else(|| "oai_dc".to_owned()),
        };
    }
}

/// As the schema has it: something, an at sign, something with a dot.
fn is_email(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(name, host)| {
        let whole = !name.is_empty() && !text.contains(char::is_whitespace);
        whole && !host.contains('@') && (host.contains('.') || host == "localhost")
    })
}
