//! Checks whether a repository keeps the rules of OAI-PMH 2.0, by asking it as a strict harvester would.

mod answer;
mod dates;
mod errors;
mod identify;
mod lists;
mod rules;
mod tokens;

use std::collections::BTreeMap;
use std::time::Duration;

use oai::Granularity;
use serde::Serialize;

use self::answer::{Answer, Record};
use self::rules::RULES;
use crate::{Error, ErrorKind, Repository};

/// How a rule fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The repository keeps the rule.
    Passed,
    /// The repository breaks the rule.
    Failed,
    /// The protocol allows it, but harvesters will have trouble.
    Warning,
    /// There was nothing to check it with, or the check ended before.
    NotChecked,
}

/// The result for one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleResult {
    /// The name of the rule.
    pub rule: &'static str,
    /// The rule, as a claim.
    pub claim: &'static str,
    /// How it fared.
    pub verdict: Verdict,
    /// The observation, or the reason why the rule was not checked.
    pub finding: Option<String>,
    /// The request that shows it, as a URL.
    pub evidence: Option<String>,
    /// The remedy.
    pub remedy: Option<&'static str>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The base URL that was asked.
    pub base_url: String,
    /// The name of the repository, if it told one.
    pub repository_name: Option<String>,
    /// Whether no rule is broken, and the rules could be checked.
    pub compliant: bool,
    /// How many requests were made.
    pub requests: u64,
    /// All rules.
    pub rules: Vec<RuleResult>,
}

/// How much a check may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckLimits {
    /// The time between two requests.
    pub interval: Duration,
    /// The most requests.
    pub requests: u64,
    /// The most pages of one list that are read.
    pub pages: usize,
    /// The longest answer that is read, in bytes.
    pub bytes: u64,
}

impl Default for CheckLimits {
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(250),
            requests: 100,
            pages: 3,
            bytes: 32 * 1024 * 1024,
        }
    }
}

/// Checks a repository. The error is that it was stopped, or that the repository cannot be asked at all.
pub fn check(repository: &Repository, limits: &CheckLimits) -> Result<Report, Error> {
    let mut check = Check {
        repository,
        limits,
        requests: 0,
        results: BTreeMap::new(),
        facts: Facts::default(),
        stopped: None,
    };
    let is_repository = check.identify()?;
    if is_repository {
        check.formats();
        check.lists();
        check.dates();
        check.sets();
        check.tokens();
        check.errors();
        check.post();
    }
    match check.stopped.take() {
        Some(error) => Err(error),
        None => Ok(check.report(is_repository)),
    }
}

/// A check under way.
struct Check<'a> {
    repository: &'a Repository,
    limits: &'a CheckLimits,
    requests: u64,
    results: BTreeMap<&'static str, (Verdict, String, String)>,
    facts: Facts,
    stopped: Option<Error>,
}

/// Facts about the repository so far.
#[derive(Debug, Default)]
struct Facts {
    name: Option<String>,
    granularity: Option<Granularity>,
    earliest: Option<oai::Datestamp>,
    deleted_record: String,
    /// The format of lists.
    prefix: String,
    sets: Vec<String>,
    /// Records of the first page of a list.
    records: Vec<Record>,
}

impl Check<'_> {
    /// Asks and reads the answer; rules that hold for every answer are checked on the way. None if there is no answer
    /// that could be read.
    fn ask(&mut self, arguments: &[(&str, &str)]) -> Option<Answer> {
        self.send(arguments, false)
    }

    fn send(&mut self, arguments: &[(&str, &str)], is_form: bool) -> Option<Answer> {
        if self.stopped.is_some() || self.requests >= self.limits.requests {
            return None;
        }
        let options = self.repository.client().options();
        if self.requests > 0 {
            let interval = self.limits.interval.max(options.interval);
            options.pace.sleep(interval, &options.stop);
        }
        self.requests += 1;
        let exchange = match self
            .repository
            .exchange(arguments, is_form, self.limits.bytes)
        {
            Ok(exchange) => exchange,
            Err(error) if *error.kind() == ErrorKind::Stopped => {
                self.stopped = Some(error);
                return None;
            }
            Err(error) => {
                self.fail("http", error.to_string(), &url(self.repository, arguments));
                return None;
            }
        };
        let address = exchange.url.clone();
        match exchange.status {
            200 => self.pass("http"),
            status => self.fail("http", format!("the status is {status}"), &address),
        }
        let content_type = exchange.content_type.clone().unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        match media_type.eq_ignore_ascii_case("text/xml") {
            true => self.pass("content-type"),
            false => {
                let finding = format!("the content type is `{content_type}`");
                self.fail("content-type", finding, &address);
            }
        }
        match Answer::read(&exchange) {
            Err(reason) => {
                self.fail("xml", reason, &address);
                None
            }
            Ok(answer) => {
                self.pass("xml");
                self.envelope(arguments, &answer);
                Some(answer)
            }
        }
    }

    fn envelope(&mut self, arguments: &[(&str, &str)], answer: &Answer) {
        match &answer.deviation {
            None => self.pass("envelope"),
            Some(deviation) => self.fail("envelope", deviation.clone(), &answer.url),
        }
        let base_url = self.repository.base_url();
        let (told, attributes) = &answer.request;
        let unrepeatable = answer.has_error("badVerb") || answer.has_error("badArgument");
        let differs = match unrepeatable {
            true => !attributes.is_empty(),
            false => {
                let repeats = |(name, value): &(&str, &str)| {
                    attributes.iter().any(|(n, v)| n == name && v == value)
                };
                attributes.len() != arguments.len() || !arguments.iter().all(repeats)
            }
        };
        if told.trim_end_matches('/') != base_url.trim_end_matches('/') {
            let finding = format!("`request` says `{told}`, the base URL is `{base_url}`");
            self.warn("request", finding, &answer.url);
        } else if differs {
            let finding = match unrepeatable {
                true => "`request` has attributes after badVerb or badArgument",
                false => "the attributes of `request` are not the arguments",
            };
            self.fail("request", finding.to_owned(), &answer.url);
        } else {
            self.pass("request");
        }
    }

    fn pass(&mut self, rule: &'static str) {
        let passed = (Verdict::Passed, String::new(), String::new());
        let result = self.results.entry(rule).or_insert_with(|| passed.clone());
        if result.0 == Verdict::NotChecked {
            *result = passed;
        }
    }

    /// Notes a breach; the first one of a rule is told.
    fn fail(&mut self, rule: &'static str, finding: String, evidence: &str) {
        self.note(rule, Verdict::Failed, finding, evidence);
    }

    fn warn(&mut self, rule: &'static str, finding: String, evidence: &str) {
        self.note(rule, Verdict::Warning, finding, evidence);
    }

    fn skip(&mut self, rule: &'static str, reason: &str) {
        let skipped = (Verdict::NotChecked, reason.to_owned(), String::new());
        self.results.entry(rule).or_insert(skipped);
    }

    fn note(&mut self, rule: &'static str, verdict: Verdict, finding: String, evidence: &str) {
        let known = self.results.get(rule).map(|(verdict, ..)| *verdict);
        if known == Some(Verdict::Failed) || (known == Some(verdict)) {
            return;
        }
        self.results
            .insert(rule, (verdict, finding, evidence.to_owned()));
    }

    /// Passes or breaks a rule by whether the answer has an error of one of these codes.
    fn expect_error(&mut self, rule: &'static str, arguments: &[(&str, &str)], codes: &[&str]) {
        let Some(answer) = self.ask(arguments) else {
            self.skip(rule, "a request got no answer that could be read");
            return;
        };
        if codes.iter().any(|code| answer.has_error(code)) {
            self.pass(rule);
        } else {
            let finding = format!(
                "{} is expected, but {}",
                codes.join(" or "),
                answer.summary()
            );
            self.fail(rule, finding, &answer.url);
        }
    }

    fn post(&mut self) {
        let Some(answer) = self.send(&[("verb", "Identify")], true) else {
            let url = url(self.repository, &[("verb", "Identify")]);
            let finding = "by POST there is no answer that can be read".to_owned();
            return self.fail("post", finding, &url);
        };
        match answer.verb == "Identify" {
            true => self.pass("post"),
            false => self.fail("post", format!("by POST {}", answer.summary()), &answer.url),
        }
    }

    fn report(self, is_repository: bool) -> Report {
        let rules: Vec<_> = RULES
            .iter()
            .map(|rule| {
                let result = self.results.get(rule.name).cloned();
                let (verdict, finding, evidence) = result.unwrap_or_else(|| {
                    let reason = match is_repository {
                        true => "nothing in this repository shows it",
                        false => "there is no answer to Identify",
                    };
                    (Verdict::NotChecked, reason.to_owned(), String::new())
                });
                let told = |text: String| Some(text).filter(|text| !text.is_empty());
                let is_finding = matches!(verdict, Verdict::Failed | Verdict::Warning);
                RuleResult {
                    rule: rule.name,
                    claim: rule.claim,
                    verdict,
                    finding: told(finding),
                    evidence: told(evidence),
                    remedy: is_finding.then_some(rule.remedy),
                }
            })
            .collect();
        let compliant =
            is_repository && rules.iter().all(|result| result.verdict != Verdict::Failed);
        Report {
            base_url: self.repository.base_url(),
            repository_name: self.facts.name,
            compliant,
            requests: self.requests,
            rules,
        }
    }
}

fn url(repository: &Repository, arguments: &[(&str, &str)]) -> String {
    repository.request(arguments)
}
