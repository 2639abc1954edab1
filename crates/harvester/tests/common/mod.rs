//! A harvest of the misbehaving repository, and what came of it.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "not every test file needs all of it"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use harvester::{
    Client, ClientOptions, Error, Harvest, LeftOut, Leniency, Outcome, Pace, Plan, Quirk, Record,
    Repository, ResumeState, Step, Stop,
};
use test_support::{Misbehaving, Script};

/// A clock that does not wait: it only notes for how long it should have.
#[derive(Debug, Default)]
pub struct Impatient {
    slept: Mutex<Vec<Duration>>,
}

impl Impatient {
    pub fn slept(&self) -> Vec<Duration> {
        self.slept.lock().unwrap().clone()
    }
}

impl Pace for Impatient {
    fn now(&self) -> SystemTime {
        SystemTime::now() + self.slept.lock().unwrap().iter().sum::<Duration>()
    }

    fn sleep(&self, duration: Duration, _stop: &Stop) {
        self.slept.lock().unwrap().push(duration);
    }
}

/// The setup of a harvest: plan, repository and options.
pub struct Setup {
    pub repository: Misbehaving,
    pub script: Script,
    pub options: ClientOptions,
    pub pace: Arc<Impatient>,
    pub plan: Plan,
    /// How many pages are committed before the harvest is killed and begun again.
    pub killed_after: Option<usize>,
    /// Whether it is killed after whole pages only, so that errors that follow a broken one are seen.
    pub killed_after_whole_pages: bool,
}

/// The result of a harvest.
pub struct Harvested {
    pub script: Script,
    pub records: Vec<Record>,
    pub left_out: Vec<LeftOut>,
    pub outcome: Outcome,
    pub error: Option<Error>,
    pub requests: Vec<String>,
    pub slept: Vec<Duration>,
    pub runs: usize,
}

impl Setup {
    pub fn new(script: Script) -> Self {
        let pace = Arc::new(Impatient::default());
        Self {
            repository: Misbehaving::start(script.clone()),
            script,
            options: ClientOptions {
                pace: Arc::clone(&pace) as Arc<dyn Pace>,
                ..ClientOptions::default()
            },
            pace,
            plan: Plan::all("oai_dc"),
            killed_after: None,
            killed_after_whole_pages: false,
        }
    }

    pub fn lenient(mut self) -> Self {
        self.options.read.leniency = Leniency::Repair;
        self
    }

    pub fn client(&self) -> Client {
        Client::new(self.options.clone()).unwrap()
    }

    pub fn repository(&self) -> Repository {
        let base_url = self.repository.base_url();
        self.client().repository(&base_url).unwrap()
    }

    pub fn run(self) -> Harvested {
        let mut harvested = Harvested {
            script: self.script.clone(),
            records: Vec::new(),
            left_out: Vec::new(),
            outcome: Outcome::default(),
            error: None,
            requests: Vec::new(),
            slept: Vec::new(),
            runs: 0,
        };
        let mut state = None;
        loop {
            harvested.runs += 1;
            assert!(harvested.runs < 1000, "the harvest does not end");
            match self.run_once(state.take(), &mut harvested) {
                Some(kept) => state = Some(kept),
                None => break,
            }
        }
        harvested.requests = self.repository.requests();
        harvested.slept = self.pace.slept();
        harvested
    }

    /// Harvests until the end, an error, or a violent death after some pages. What was not committed
    /// with a page is lost with the process.
    fn run_once(&self, state: Option<String>, all: &mut Harvested) -> Option<String> {
        let state = state.map(|text| text.parse::<ResumeState>().unwrap());
        let repository = self.repository();
        let mut harvest = match Harvest::new(&repository, self.plan.clone(), state) {
            Ok(harvest) => harvest,
            Err(error) => {
                all.error = Some(error);
                return None;
            }
        };
        let (mut records, mut left_out, mut pages) = (Vec::new(), Vec::new(), 0);
        for step in harvest.by_ref() {
            match step {
                Ok(Step::Record(record)) => records.push(record),
                Ok(Step::LeftOut(one)) => left_out.push(one),
                Ok(Step::Page(page)) => {
                    all.records.append(&mut records);
                    all.left_out.append(&mut left_out);
                    if page.broken.is_none() || !self.killed_after_whole_pages {
                        pages += 1;
                    }
                    if let Some(state) = page.state
                        && Some(pages) == self.killed_after
                    {
                        return Some(state.to_string());
                    }
                }
                Err(error) => {
                    all.error = Some(error);
                    break;
                }
            }
        }
        let mut outcome = harvest.outcome();
        outcome
            .quirks
            .merge(std::mem::take(&mut all.outcome.quirks));
        all.outcome = outcome;
        None
    }
}

impl Harvested {
    /// All records came, none twice, nothing was left out, and no error ended it.
    pub fn expect_all(&self) {
        self.expect_all_but(&[]);
    }

    /// All records came but some, which are named as left out.
    pub fn expect_all_but(&self, numbers: &[usize]) {
        assert_eq!(self.error, None);
        let named: BTreeSet<_> = numbers.iter().map(|n| Script::identifier(*n)).collect();
        let expected: BTreeSet<_> = self.script.identifiers().into_iter().collect();
        let expected: BTreeSet<_> = expected.difference(&named).cloned().collect();
        let left_out = self
            .left_out
            .iter()
            .filter_map(|one| one.identifier.clone());
        assert_eq!(
            left_out.collect::<BTreeSet<_>>(),
            named,
            "{:?}",
            self.left_out
        );
        assert_eq!(self.left_out.len(), numbers.len(), "{:?}", self.left_out);
        assert_eq!(self.identifiers(), expected);
        assert_eq!(self.records.len(), expected.len(), "some came twice");
        self.expect_well_formed();
    }

    pub fn expect_well_formed(&self) {
        for record in &self.records {
            let text = std::str::from_utf8(&record.xml).unwrap();
            let document =
                roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let root = document.root_element();
            assert_eq!(root.tag_name().name(), "record");
            assert_eq!(
                root.tag_name().namespace(),
                Some("http://www.openarchives.org/OAI/2.0/")
            );
        }
    }

    pub fn identifiers(&self) -> BTreeSet<String> {
        let records = self.records.iter();
        records
            .map(|record| record.header.identifier.clone())
            .collect()
    }

    pub fn expect_quirk(&self, quirk: Quirk) {
        let count = self.outcome.quirks.count(quirk);
        assert!(count > 0, "{:?}", self.outcome.quirks);
    }

    pub fn message(&self) -> String {
        self.error.as_ref().unwrap().to_string()
    }

    /// How many requests were made that begin so.
    pub fn asked(&self, beginning: &str) -> usize {
        let requests = self.requests.iter();
        requests
            .filter(|query| query.starts_with(beginning))
            .count()
    }
}
