//! The harvest itself: page after page, around whatever stands in the way.

use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};

use oai::{Datestamp, ErrorCode, Granularity};

use super::recent::Recent;
use super::single::Singles;
use super::state::ResumeState;
use super::window::{Cut, Window, written};
use super::{Method, Plan};
use crate::client::{PageStream, code, refusal};
use crate::error::{Error, ErrorKind, Incompatibility, Misbehaviour};
use crate::read::{Found, Report};
use crate::record::{Header, LeftOut, Record, moment};
use crate::{Quirk, Quirks, Repository};

/// A harvest of one repository: gives records, and after each page where it stands.
///
/// What is given between two pages belongs together: rows, files and the state of the page that
/// ends it are to be committed at once. A harvest begun with that state goes on behind the page. If
/// an error ends the harvest, a page comes before it for what was given until then.
pub struct Harvest {
    pub(super) repository: Repository,
    pub(super) state: ResumeState,
    reading: Reading,
    pub(super) ready: VecDeque<Step>,
    pub(super) recent: Recent,
    tokens: HashSet<u64>,
    first_records: HashSet<u64>,
    repeated_pages: u32,
    empty_pages: u32,
    pub(super) page: Progress,
    outcome: Outcome,
    /// The state of the last page, and whether something was given since.
    kept: ResumeState,
    open: bool,
    failure: Option<Error>,
    ended: bool,
}

/// What a harvest gives.
#[derive(Debug)]
pub enum Step {
    /// A record.
    Record(Record),
    /// A record that could not be had.
    LeftOut(LeftOut),
    /// The end of a page.
    Page(Box<PageEnd>),
}

/// What is known at the end of a page.
#[derive(Debug)]
pub struct PageEnd {
    /// Where to go on; `None` when all is done.
    pub state: Option<ResumeState>,
    /// How many records the page gave.
    pub records: u64,
    /// Its length in bytes, decoded.
    pub bytes: u64,
    /// How many records the harvest gave so far, with those before it was resumed.
    pub given: u64,
    /// How many records there are in the list, as far as the repository tells.
    pub complete_list_size: Option<u64>,
    /// The oddities of the page.
    pub quirks: Quirks,
    /// Why the page could not be read to its end.
    pub broken: Option<String>,
}

/// What came of a harvest, since it was begun or resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Where the next harvest should begin: the repository's own time at the first page, at its own
    /// granularity. What changed in that very moment comes twice.
    pub next_from: Option<String>,
    /// How many records were given.
    pub records: u64,
    /// How many could not be had.
    pub left_out: u64,
    /// How many pages were read.
    pub pages: u64,
    /// The oddities met.
    pub quirks: Quirks,
}

/// What is being read.
enum Reading {
    Nothing,
    Page(Box<PageStream>),
    Singles(Box<Singles>),
}

/// What the current page has brought so far.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) quirks: Quirks,
    pub(super) records: u64,
    on_page: u64,
    first: Option<(u64, String)>,
    oldest: Option<i64>,
    headers: VecDeque<Header>,
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
                }
            }
        };
        Ok(Self {
            repository: repository.clone(),
            ended: state.windows.is_empty(),
            kept: state.clone(),
            open: false,
            failure: None,
            state,
            reading: Reading::Nothing,
            ready: VecDeque::new(),
            recent: Recent::default(),
            tokens: HashSet::new(),
            first_records: HashSet::new(),
            repeated_pages: 0,
            empty_pages: 0,
            page: Progress {
                quirks,
                ..Progress::default()
            },
            outcome: Outcome::default(),
        })
    }

    /// What came of it so far.
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
        let Some(window) = self.state.windows.last() else {
            self.ended = true;
            return;
        };
        let quirks = std::mem::take(&mut self.page.quirks);
        self.page = Progress {
            quirks,
            ..Progress::default()
        };
        let arguments = self.arguments(window);
        let arguments: Vec<_> = arguments
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let page = self.repository.page(&arguments);
        // A page that is known to be broken is not read twice at every cut.
        let page = if window.part { page.impatient() } else { page };
        self.reading = Reading::Page(Box::new(page));
    }

    fn arguments(&self, window: &Window) -> Vec<(&'static str, String)> {
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

    fn take(&mut self, found: Found) {
        match found {
            Found::Record(record) => {
                self.meet(&record.header);
                self.give(record);
            }
            Found::Header(header) => {
                self.meet(&header);
                self.page.headers.push_back(header);
            }
            Found::LeftOut(left_out) => {
                self.page.on_page += 1;
                self.ready.push_back(Step::LeftOut(left_out));
            }
            Found::Set(_) | Found::MetadataFormat(_) => {}
        }
    }

    /// Gives a record, unless it was given a short while ago.
    pub(super) fn give(&mut self, record: Record) {
        let key = self.recent.key(&record.header);
        if !self.recent.insert(key) {
            self.page.quirks.add(Quirk::RecordRepeated);
            return;
        }
        self.page.records += 1;
        self.state.given += 1;
        self.ready.push_back(Step::Record(record));
    }

    /// Notes what a header tells about the list and the repository.
    fn meet(&mut self, header: &Header) {
        self.page.on_page += 1;
        if self.page.first.is_none() {
            let key = self.recent.key(header);
            self.page.first = Some((key, header.identifier.clone()));
        }
        let quirks = &mut self.page.quirks;
        if !header.identifier.contains(':') {
            quirks.add(Quirk::IdentifierNotUri);
        }
        if header
            .set_specs
            .iter()
            .any(|set| oai::SetSpec::parse(set).is_none())
        {
            quirks.add(Quirk::IllegalSetSpec);
        }
        match Datestamp::parse(&header.datestamp) {
            Some((_, granularity)) if granularity == self.state.granularity() => {}
            Some(_) => quirks.add(Quirk::OtherGranularity),
            None if header.moment().is_some() => quirks.add(Quirk::DatestampForm),
            None => quirks.add(Quirk::DatestampUnreadable),
        }
        let Some(moment) = header.moment() else {
            return;
        };
        let moment = moment.seconds();
        if moment > self.now() + CLOCK_SLACK {
            // To go on from there would skip all that lies between.
            self.page.quirks.add(Quirk::FutureDatestamp);
            return;
        }
        if self
            .state
            .earliest
            .is_some_and(|earliest| moment < earliest)
        {
            self.page.quirks.add(Quirk::WrongEarliestDatestamp);
            self.state.earliest = Some(moment);
        }
        self.page.oldest = Some(self.page.oldest.map_or(moment, |oldest| oldest.min(moment)));
        let Some(window) = self.state.windows.last_mut() else {
            return;
        };
        match window.note(moment) {
            Ordering::Greater => self.state.ascents = self.state.ascents.saturating_add(1),
            Ordering::Equal => {}
            Ordering::Less if self.state.disordered => {}
            Ordering::Less => {
                self.state.disordered = true;
                self.page.quirks.add(Quirk::NotInOrderOfDates);
            }
        }
    }

    /// Takes what a page that was read to its end says beside its records.
    fn end_page(&mut self, report: Report, http_date: Option<String>) -> Result<(), Error> {
        if !report.errors.is_empty() {
            return self.refused(report);
        }
        if report.verb.is_none() {
            let error = Error::from(Misbehaviour::Missing("ListRecords"));
            return self.fail(error, report.bytes);
        }
        self.note_time(&report, http_date);
        let headers = std::mem::take(&mut self.page.headers);
        if headers.is_empty() {
            return self.turn(report, 0);
        }
        let done = self.state.windows.last().map_or(0, |w| w.done_on_page);
        self.reading = Reading::Singles(Box::new(Singles::new(headers, done, report)));
        Ok(())
    }

    fn note_time(&mut self, report: &Report, http_date: Option<String>) {
        if self.state.began.is_some() {
            return;
        }
        let said = report.response_date.as_deref().and_then(moment);
        self.state.began = said.map(Datestamp::seconds).or_else(|| {
            self.page.quirks.add(Quirk::NoResponseDate);
            let date = httpdate::parse_http_date(&http_date?).ok()?;
            let since = date.duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(since.as_secs()).ok()
        });
    }

    /// Ends a page and goes on to the next one, or to the next window.
    fn turn(&mut self, report: Report, singles: u64) -> Result<(), Error> {
        self.page.quirks.merge(report.quirks);
        let token = report.token.unwrap_or_default();
        let on_page = self.page.on_page.max(singles);
        self.state.failures = 0;
        let Some(window) = self.state.windows.last_mut() else {
            return Ok(());
        };
        window.given += on_page;
        let given = window.given;
        let whole = window.restarts == 0;
        if token.value.is_empty() {
            let announced = token.complete_list_size;
            if whole && announced.is_some_and(|size| size != given) {
                self.page.quirks.add(Quirk::WrongCompleteListSize);
            }
            self.state.windows.pop();
            self.forget_list();
            self.push_page(report.bytes, announced, None);
            return Ok(());
        }
        let sent = window.token.replace(token.value.clone());
        window.done_on_page = 0;
        self.check_loop(&token.value, sent.as_deref(), on_page)?;
        self.push_page(report.bytes, token.complete_list_size, None);
        Ok(())
    }

    /// Ends a list that would not end by itself.
    fn check_loop(&mut self, token: &str, sent: Option<&str>, on_page: u64) -> Result<(), Error> {
        let repeated = || Err(Misbehaviour::TokenRepeated(token.to_owned()).into());
        let known = !self.tokens.insert(self.recent.of_text(token));
        if sent == Some(token) {
            // Quirk: servers that keep the place in a session give one token for all pages.
            if self.page.records == 0 {
                return repeated();
            }
            self.page.quirks.add(Quirk::TokenUnchanged);
        } else if known {
            return repeated();
        }
        match on_page {
            0 => {
                self.page.quirks.add(Quirk::EmptyPage);
                self.empty_pages += 1;
            }
            _ => self.empty_pages = 0,
        }
        if self.empty_pages >= MOST_EMPTY_PAGES {
            return Err(Misbehaviour::EmptyPages(self.empty_pages).into());
        }
        let Some((first, identifier)) = self.page.first.take() else {
            return Ok(());
        };
        self.repeated_pages = match self.first_records.insert(first) {
            true => 0,
            false => self.repeated_pages + 1,
        };
        if self.repeated_pages >= MOST_REPEATED_PAGES {
            return Err(Misbehaviour::ListRepeated(identifier).into());
        }
        Ok(())
    }

    /// Takes the errors of the protocol.
    fn refused(&mut self, report: Report) -> Result<(), Error> {
        let Some(window) = self.state.windows.last().cloned() else {
            return Ok(());
        };
        let arguments = self.arguments(&window);
        let borrowed: Vec<_> = arguments
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let request = self.repository.request(&borrowed);
        let Some(error) = refusal(&report, &borrowed).map(|error| error.at(&request)) else {
            return Ok(());
        };
        let code = code(&report).and_then(Result::ok);
        let resumed = window.token.is_some();
        match code {
            Some(ErrorCode::NoRecordsMatch) => self.no_records_match(report, resumed),
            Some(ErrorCode::CannotDisseminateFormat) => self.no_format(report, error),
            Some(_) if resumed => self.expired(report),
            // Quirk: repositories that tell seconds and refuse them.
            Some(ErrorCode::BadArgument)
                if !self.state.days && (window.from.is_some() || window.until.is_some()) =>
            {
                self.page.quirks.merge(report.quirks);
                self.page.quirks.add(Quirk::GranularityRefused);
                self.state.days = true;
                Ok(())
            }
            None if resumed || window.part => {
                self.page.quirks.add(Quirk::UnknownErrorCode);
                self.page.quirks.merge(report.quirks);
                self.narrow(&error, report.bytes)
            }
            _ => Err(error),
        }
    }

    fn no_records_match(&mut self, report: Report, resumed: bool) -> Result<(), Error> {
        if resumed {
            self.page.quirks.add(Quirk::ListEndsWithError);
        } else if self.state.given == 0 && !self.state.windows.iter().any(|w| w.part) {
            self.check_set()?;
        }
        self.note_time(&report, None);
        self.page.quirks.merge(report.quirks);
        self.state.windows.pop();
        self.state.failures = 0;
        self.forget_list();
        self.push_page(report.bytes, None, None);
        Ok(())
    }

    /// A set that has vanished is not the same as one without news.
    fn check_set(&self) -> Result<(), Error> {
        let Some(wanted) = &self.state.plan.set else {
            return Ok(());
        };
        for set in self.repository.list_sets() {
            // A repository that cannot list its sets is taken at its word.
            let Ok(set) = set else {
                return Ok(());
            };
            let below = set.set_spec.strip_prefix(wanted.as_str());
            if below.is_some_and(|rest| rest.is_empty() || rest.starts_with(':')) {
                return Ok(());
            }
        }
        Err(Incompatibility::Set(wanted.clone()).into())
    }

    /// A format that no record has is not the same as one that does not exist.
    fn no_format(&mut self, report: Report, error: Error) -> Result<(), Error> {
        let formats = self.repository.list_metadata_formats(None);
        let Ok(formats) = formats else {
            return Err(error);
        };
        let prefix = &self.state.plan.metadata_prefix;
        if formats
            .iter()
            .any(|format| &format.metadata_prefix == prefix)
        {
            return self.no_records_match(report, false);
        }
        let offered = formats.into_iter().map(|format| format.metadata_prefix);
        Err(Incompatibility::MetadataPrefix {
            prefix: prefix.clone(),
            offered: offered.collect(),
        }
        .into())
    }

    /// A token that does not work any longer: goes on by date.
    fn expired(&mut self, report: Report) -> Result<(), Error> {
        self.page.quirks.merge(report.quirks);
        self.page.quirks.add(Quirk::TokenExpired);
        let granularity = self.state.granularity();
        let now = self.now();
        let earliest = self.state.earliest.unwrap_or(EARLIEST);
        let Some(mut window) = self.state.windows.pop() else {
            return Ok(());
        };
        let progress = window.restart(self.state.ordered(), granularity);
        window.restarts += 1;
        self.forget_list();
        if progress || window.restarts == 1 {
            self.state.windows.push(window);
        } else {
            // Smaller lists are done before their tokens expire.
            match window.cut((earliest, now), None, granularity) {
                Cut::Halves(halves) => self.push_halves(*halves),
                Cut::Grain if window.restarts > MOST_RESTARTS => {
                    return Err(Misbehaviour::TokensExpire.into());
                }
                Cut::Grain => self.state.windows.push(window),
            }
        }
        let reason = "the resumptionToken did not work any longer".to_owned();
        self.push_page(report.bytes, None, Some(reason));
        Ok(())
    }

    /// A page could not be read to its end.
    fn fail(&mut self, error: Error, bytes: u64) -> Result<(), Error> {
        let begun = self.state.began.is_some();
        let resumed = self.state.windows.last().is_some_and(|w| w.token.is_some());
        match error.kind() {
            ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(_)) if resumed => self
                .expired(Report {
                    bytes,
                    ..Report::default()
                }),
            ErrorKind::Transport(_) if self.is_alive() => self.narrow(&error, bytes),
            ErrorKind::RepositoryMisbehaved(Misbehaviour::Redirect(_)) => Err(error),
            ErrorKind::RepositoryMisbehaved(
                Misbehaviour::Broken { .. }
                | Misbehaviour::Truncated { .. }
                | Misbehaviour::TooDeep { .. }
                | Misbehaviour::TooLong { .. },
            ) => self.narrow(&error, bytes),
            // From the first page on nothing but this: there is no use in asking for parts.
            ErrorKind::RepositoryMisbehaved(_) if begun => self.narrow(&error, bytes),
            _ => Err(error),
        }
    }

    /// Whether the repository answers at all, so that the fault lies with one page.
    pub(super) fn is_alive(&self) -> bool {
        self.repository.identify().is_ok()
    }

    /// Cuts the current window, until the record that cannot be read is alone.
    fn narrow(&mut self, error: &Error, bytes: u64) -> Result<(), Error> {
        self.page.quirks.add(Quirk::PageBroken);
        self.page.headers.clear();
        self.state.failures += 1;
        if self.state.failures > MOST_FAILURES {
            return Err(Misbehaviour::Hopeless(MOST_FAILURES, error.to_string()).into());
        }
        let granularity = self.state.granularity();
        let now = self.now();
        let earliest = self.state.earliest.unwrap_or(EARLIEST);
        let Some(mut window) = self.state.windows.pop() else {
            return Ok(());
        };
        // What is left of the page covers about as much time as what could be read of it.
        let likely = match (self.page.oldest, window.newest) {
            (Some(oldest), Some(newest)) if self.state.ordered() => Some(2 * newest - oldest + 1),
            _ => None,
        };
        window.restart(self.state.ordered(), granularity);
        window.restarts += 1;
        window.part = true;
        self.forget_list();
        let cut = window.cut((earliest, now), likely, granularity);
        match (cut, window.method) {
            (Cut::Halves(halves), _) => self.push_halves(*halves),
            (Cut::Grain, Method::ListRecords) => {
                window.method = Method::ListIdentifiers;
                self.state.windows.push(window);
            }
            (Cut::Grain, Method::ListIdentifiers) => {
                let bound = |text: Option<String>| text.unwrap_or_else(|| "…".to_owned());
                let from = bound(window.lower(granularity));
                let until = bound(window.upper(granularity));
                self.ready.push_back(Step::LeftOut(LeftOut {
                    identifier: None,
                    dates: Some((from, until)),
                    reason: error.to_string(),
                }));
            }
        }
        self.push_page(bytes, None, Some(error.to_string()));
        Ok(())
    }

    fn push_halves(&mut self, (earlier, later): (Window, Window)) {
        self.state.windows.push(later);
        self.state.windows.push(earlier);
    }

    pub(super) fn push_page(
        &mut self,
        bytes: u64,
        complete_list_size: Option<u64>,
        broken: Option<String>,
    ) {
        let done = self.state.windows.is_empty();
        self.ended = done;
        self.kept.clone_from(&self.state);
        let page = std::mem::take(&mut self.page);
        self.page.on_page = page.on_page;
        self.ready.push_back(Step::Page(Box::new(PageEnd {
            state: (!done).then(|| self.state.clone()),
            records: page.records,
            bytes,
            given: self.state.given,
            complete_list_size,
            quirks: page.quirks,
            broken,
        })));
    }

    fn forget_list(&mut self) {
        self.tokens.clear();
        self.first_records.clear();
        self.repeated_pages = 0;
        self.empty_pages = 0;
    }

    /// The repository's own time as far as it is known, else ours.
    fn now(&self) -> i64 {
        self.state.began.unwrap_or_else(|| {
            let now = self.repository.client().options().pace.now();
            let since = now.duration_since(std::time::UNIX_EPOCH);
            since.map_or(0, |since| since.as_secs().cast_signed())
        })
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
        // What was given of the page is worth keeping; a later try begins with the page once more.
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
    match repository.identify() {
        Ok(identity) => {
            let earliest = identity.earliest_datestamp.map(Datestamp::seconds);
            Ok((identity.granularity, earliest))
        }
        Err(error) => match error.kind() {
            ErrorKind::RepositoryMisbehaved(
                Misbehaviour::Missing(_)
                | Misbehaviour::Broken { .. }
                | Misbehaviour::Truncated { .. }
                | Misbehaviour::UnknownError { .. }
                | Misbehaviour::UnfittingError { .. },
            ) => {
                quirks.add(Quirk::IdentifyUnusable);
                Ok((Granularity::Day, None))
            }
            _ => Err(error),
        },
    }
}

/// Where nothing else is known, no record is older: the protocol is of 2001, files of 1970.
const EARLIEST: i64 = 0;
/// Clocks may differ by as much before a datestamp counts as one of the future.
const CLOCK_SLACK: i64 = 86_400;
const MOST_EMPTY_PAGES: u32 = 50;
const MOST_REPEATED_PAGES: u32 = 3;
const MOST_RESTARTS: u32 = 3;
/// As many parts in a row that cannot be read mean that none can. One bad record among 2^32 seconds
/// takes 33 cuts.
const MOST_FAILURES: u32 = 60;
