//! The harvest itself: page after page, around whatever stands in the way.

use std::collections::VecDeque;

use oai::{Datestamp, Granularity};

use super::listed::Listed;
use super::loops::{Seen, Way};
use super::page::Progress;
use super::recent::Recent;
use super::single::Singles;
use super::state::ResumeState;
use super::window::{Window, written};
use super::{Method, Outcome, Plan, Step};
use crate::client::{PageStream, Patience};
use crate::error::{Error, ErrorKind};
use crate::{Quirk, Quirks, Repository};

/// A harvest of one repository: gives records, and after each page where it stands.
///
/// Steps between two pages belong together: rows, files and the state of the page that
/// ends it are to be committed at once. A harvest begun with that state goes on behind the page. If
/// an error ends the harvest, a page comes before it for what was given until then.
pub struct Harvest {
    pub(super) repository: Repository,
    pub(super) state: ResumeState,
    pub(super) reading: Reading,
    pub(super) ready: VecDeque<Step>,
    pub(super) recent: Recent,
    pub(super) seen: Seen,
    pub(super) listed: Listed,
    pub(super) page: Progress,
    outcome: Outcome,
    /// The state of the last page, and whether something was given since.
    pub(super) kept: ResumeState,
    open: bool,
    failure: Option<Error>,
    pub(super) ended: bool,
    /// How many records were met before this process went on with the harvest; they are not remembered.
    pub(super) resumed_at: u64,
    /// How often it was tried what `until` means.
    pub(super) probes: u32,
    /// How many parts of a list are asked for whose first page never came.
    pub(super) first_page_parts: u32,
}

/// The page that is being read.
pub(super) enum Reading {
    Nothing,
    Page(Box<PageStream>),
    Singles(Box<Singles>),
}

impl Harvest {
    /// Begins a harvest, or goes on with one.
    pub fn new(
        repository: &Repository,
        plan: Plan,
        resume: Option<ResumeState>,
    ) -> Result<Self, Error> {
        let (from, until) = plan.bounds()?;
        let mut quirks = Quirks::default();
        let state = match resume {
            Some(state) if state.plan != plan => {
                return Err(Error::usage("the saved state belongs to another harvest"));
            }
            Some(state) => state,
            None => {
                let (granularity, earliest) = introduce(repository, &mut quirks)?;
                ResumeState {
                    windows: vec![Window::new(from, until, plan.method)],
                    days: granularity == Granularity::Day,
                    plan,
                    began: None,
                    earliest,
                    given: 0,
                    ascents: 0,
                    disordered: false,
                    failures: 0,
                    way: Way::default(),
                    lost: 0,
                    holes: 0,
                    patch: None,
                    until: None,
                    sample: None,
                    sizes_unreliable: false,
                    loops: 0,
                }
            }
        };
        let is_begun = |window: &Window| window.token.is_some() || window.given > 0;
        let listed = match state.windows.last().is_some_and(is_begun) {
            true => Listed::partial(),
            false => Listed::default(),
        };
        Ok(Self {
            listed,
            repository: repository.clone(),
            ended: state.windows.is_empty(),
            resumed_at: state.given + state.lost,
            probes: 0,
            first_page_parts: u32::MAX,
            kept: state.clone(),
            open: false,
            failure: None,
            state,
            reading: Reading::Nothing,
            ready: VecDeque::new(),
            recent: Recent::default(),
            seen: Seen::default(),
            page: Progress {
                quirks,
                ..Progress::default()
            },
            outcome: Outcome::default(),
        })
    }

    /// Does not read lists again because of their completeListSize, which an earlier harvest found to be wrong.
    pub fn distrust_sizes(&mut self) {
        self.state.sizes_unreliable = true;
        self.kept.sizes_unreliable = true;
    }

    /// Asks for at most `parts` parts of the list if its first page never comes. Without this, parts are asked for until it
    /// is hopeless.
    pub fn limit_first_page_parts(&mut self, parts: u32) {
        self.first_page_parts = parts;
    }

    /// The result so far.
    pub fn outcome(&self) -> Outcome {
        let began = self.state.began;
        Outcome {
            next_from: began.map(|began| written(began, self.state.granularity())),
            ..self.outcome.clone()
        }
    }

    fn advance(&mut self) -> Result<Option<Step>, Error> {
        loop {
            if let Some(step) = self.ready.pop_front() {
                self.count(&step);
                return Ok(Some(step));
            }
            if self.ended {
                return Ok(None);
            }
            self.repository.client().check_stop()?;
            match std::mem::replace(&mut self.reading, Reading::Nothing) {
                Reading::Nothing => self.ask(),
                Reading::Page(mut page) => match page.next() {
                    Ok(Some(found)) => {
                        self.reading = Reading::Page(page);
                        self.take(found);
                    }
                    Ok(None) => {
                        let (report, date) = page.finish();
                        self.end_page(report, date)?;
                    }
                    Err(error) => {
                        let (report, _) = page.finish();
                        self.page.quirks.merge(report.quirks);
                        self.fail(error, report.bytes)?;
                    }
                },
                Reading::Singles(mut singles) => {
                    if singles.next(self)? {
                        self.reading = Reading::Singles(singles);
                    } else {
                        let (report, total) = singles.finish();
                        self.turn(report, total)?;
                    }
                }
            }
        }
    }

    fn count(&mut self, step: &Step) {
        self.open = !matches!(step, Step::Page(_));
        match step {
            Step::Record(_) => self.outcome.records += 1,
            Step::LeftOut(_) => self.outcome.left_out += 1,
            Step::Page(page) => {
                self.outcome.pages += 1;
                self.outcome.quirks.merge(page.quirks.clone());
            }
        }
    }

    /// Asks for the next page of the current window.
    fn ask(&mut self) {
        self.begin_counting();
        let Some(window) = self.state.windows.last() else {
            self.ended = true;
            return;
        };
        let part = window.part;
        let newest_before = window.newest;
        let quirks = std::mem::take(&mut self.page.quirks);
        self.page = Progress {
            quirks,
            newest_before,
            ..Progress::default()
        };
        let window = self.state.windows.last();
        let arguments = window.map_or_else(Vec::new, |window| self.arguments(window));
        let arguments: Vec<_> = arguments
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        // A page that is known to be broken is not asked for again and again at every cut.
        let page = match part {
            true => {
                let repository = self.repository.with_patience(Patience::Brief);
                repository.page(&arguments).impatient()
            }
            false => self.repository.page(&arguments),
        };
        self.reading = Reading::Page(Box::new(page));
    }

    pub(super) fn arguments(&self, window: &Window) -> Vec<(&'static str, String)> {
        let verb = match window.method {
            Method::ListRecords => "ListRecords",
            Method::ListIdentifiers => "ListIdentifiers",
        };
        let mut arguments = vec![("verb", verb.to_owned())];
        if let Some(token) = &window.token {
            arguments.push(("resumptionToken", token.clone()));
            return arguments;
        }
        let plan = &self.state.plan;
        let granularity = self.state.granularity();
        arguments.push(("metadataPrefix", plan.metadata_prefix.clone()));
        arguments.extend(plan.set.clone().map(|set| ("set", set)));
        arguments.extend(window.lower(granularity).map(|from| ("from", from)));
        arguments.extend(window.upper(granularity).map(|until| ("until", until)));
        arguments
    }
}

impl Iterator for Harvest {
    type Item = Result<Step, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failure.take() {
            return Some(Err(error));
        }
        let error = match self.advance() {
            Ok(step) => return step.map(Ok),
            Err(error) => error,
        };
        self.ended = true;
        self.ready.clear();
        if !self.open {
            return Some(Err(error));
        }
        // The records given of the page are worth keeping; a later try begins with the page once more.
        self.state = self.kept.clone();
        self.push_page(0, None, Some(error.to_string()));
        self.ended = true;
        self.failure = Some(error);
        let page = self.ready.pop_front()?;
        self.count(&page);
        Some(Ok(page))
    }
}

/// Asks for the granularity and the earliest datestamp.
fn introduce(
    repository: &Repository,
    quirks: &mut Quirks,
) -> Result<(Granularity, Option<i64>), Error> {
    match repository.brief_unless_busy().identify() {
        Ok(identity) => {
            let earliest = identity.earliest_datestamp.map(Datestamp::seconds);
            Ok((identity.granularity, earliest))
        }
        Err(error) => match error.kind() {
            ErrorKind::Stopped | ErrorKind::Usage(_) | ErrorKind::AskedToWait { .. } => Err(error),
            // A fault of the whole repository keeps its lists from being read as well.
            _ => {
                quirks.add(Quirk::IdentifyUnusable);
                Ok((Granularity::Day, None))
            }
        },
    }
}
