//! One page of a list: what is found on it, and what it says at its end.

use std::cmp::Ordering;
use std::collections::VecDeque;

use oai::Datestamp;

use super::listed::Listed;
use super::run::{Harvest, Reading};
use super::single::Singles;
use super::tally::Pass;
use super::until::Until;
use super::window::Window;
use super::{PageEnd, Step};
use crate::error::{Error, Misbehaviour};
use crate::read::{PageItem, Report};
use crate::record::{Header, LeftOut, Record, moment};
use crate::{Quirk, Quirks};

/// The current page so far.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) quirks: Quirks,
    pub(super) records: u64,
    pub(super) on_page: u64,
    pub(super) first: Option<(u64, String)>,
    pub(super) oldest: Option<i64>,
    /// The newest datestamp of the pages before this one.
    pub(super) newest_before: Option<i64>,
    pub(super) headers: VecDeque<Header>,
}

impl Harvest {
    /// Takes what is on a page.
    pub(super) fn take(&mut self, found: PageItem) {
        match found {
            PageItem::Record(record) => {
                let key = self.recent.key(&record.header);
                self.note_listed(&record.header, key);
                self.meet(&record.header, key);
                self.give(*record, key);
            }
            PageItem::Header(header) => {
                let key = self.recent.key(&header);
                self.note_listed(&header, key);
                self.meet(&header, key);
                self.page.headers.push_back(header);
            }
            PageItem::LeftOut(left_out) => {
                self.page.on_page += 1;
                self.leave_out(left_out);
            }
            PageItem::Void => self.begin_page_again(),
            PageItem::Set(_) | PageItem::MetadataFormat(_) => {}
        }
    }

    /// Takes back what the current page brought: it came damaged. Its records are given again, and take the place of those that
    /// were given.
    fn begin_page_again(&mut self) {
        self.state = self.kept.clone();
        self.begin_counting();
        self.recent.forget();
        self.listed = Listed::partial();
        self.resumed_at = self.met();
        let newest_before = self.state.windows.last().and_then(|window| window.newest);
        self.page = Progress {
            quirks: std::mem::take(&mut self.page.quirks),
            newest_before,
            ..Progress::default()
        };
    }

    /// Gives a record, unless it was given a short while ago.
    pub(super) fn give(&mut self, record: Record, key: u64) {
        if !self.recent.insert(key) {
            self.note_repeated();
            return;
        }
        self.count_fresh(record.header.moment().map(Datestamp::seconds));
        self.page.records += 1;
        self.state.given += 1;
        self.ready.push_back(Step::Record(record));
    }

    /// Notes a record that came before, unless the harvest itself asked twice for it.
    pub(super) fn note_repeated(&mut self) {
        let window = self.state.windows.last();
        let overlaps =
            |window: &Window| window.part || window.pass != Pass::First || window.restarts > 0;
        if !window.is_some_and(overlaps) {
            self.page.quirks.add(Quirk::RecordRepeated);
        }
    }

    /// Tells of a record that cannot be had, unless that was told a short while ago: where a page is read in parts, the same
    /// record is met again and again.
    pub(super) fn leave_out(&mut self, left_out: LeftOut) {
        let identifier = left_out.identifier.as_deref();
        let key = identifier.map(|identifier| self.recent.of_loss(identifier));
        if key.is_none_or(|key| self.recent.insert(key)) {
            self.state.lost += u64::from(left_out.identifier.is_some());
            self.ready.push_back(Step::LeftOut(left_out));
        }
    }

    /// Notes what a header tells about the list and the repository.
    fn meet(&mut self, header: &Header, key: u64) {
        self.page.on_page += 1;
        if self.page.first.is_none() {
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
        let (moment, oddity) = match Datestamp::parse(&header.datestamp) {
            Some((moment, granularity)) if granularity == self.state.granularity() => {
                (Some(moment), None)
            }
            Some((moment, _)) => (Some(moment), Some(Quirk::OtherGranularity)),
            None => match header.moment() {
                Some(moment) => (Some(moment), Some(Quirk::DatestampForm)),
                None => (None, Some(Quirk::DatestampUnreadable)),
            },
        };
        if let Some(oddity) = oddity {
            quirks.add(oddity);
        }
        let Some(moment) = moment.map(Datestamp::seconds) else {
            return;
        };
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
        if oddity.is_none() {
            self.note_sample(moment);
        }
        // A list that begins anew says nothing about the order.
        if self.recent.contains(key) {
            return;
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
    pub(super) fn end_page(
        &mut self,
        report: Report,
        http_date: Option<String>,
    ) -> Result<(), Error> {
        if !report.errors.is_empty() {
            // Quirk: servers that put a warning beside the list that was asked for.
            if report.verb.is_none() || self.page.on_page == 0 {
                return self.refused(report);
            }
            self.page.quirks.add(Quirk::ErrorBesideAnswer);
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

    pub(super) fn note_time(&mut self, report: &Report, http_date: Option<String>) {
        if self.state.began.is_some() {
            return;
        }
        let said = report.response_date.as_deref().and_then(moment);
        let began = said.map(Datestamp::seconds).or_else(|| {
            self.page.quirks.add(Quirk::NoResponseDate);
            let date = httpdate::parse_http_date(&http_date?).ok()?;
            let since = date.duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(since.as_secs()).ok()
        });
        // If the repository's clock is ahead and is set right, what changes until then would be missed.
        self.state.began = began.map(|began| began.min(self.now()));
    }

    /// Ends a page and goes on to the next one, or to the next window.
    pub(super) fn turn(&mut self, report: Report, singles: u64) -> Result<(), Error> {
        self.page.quirks.merge(report.quirks);
        let token = report.token.unwrap_or_default();
        let on_page = self.page.on_page.max(singles);
        self.state.failures = 0;
        let newest_before = self.page.newest_before;
        let Some(window) = self.state.windows.last_mut() else {
            return Ok(());
        };
        window.count(on_page, token.complete_list_size, newest_before);
        if window.tally.size.is_none() {
            self.listed.rest();
        }
        if let (Some(newest), Some(oldest)) = (window.newest, self.page.oldest) {
            window.page_length = newest - oldest;
        }
        if token.value.is_empty() {
            let announced = window.announced;
            let is_wrong = announced.is_some_and(|size| size != window.given);
            if is_wrong && window.restarts == 0 {
                self.page.quirks.add(Quirk::WrongCompleteListSize);
            }
            self.end_list(report.bytes, announced);
            return Ok(());
        }
        let sent = window.token.replace(token.value.clone());
        window.done_on_page = 0;
        if let Err(error) = self.check_loop(&token.value, sent.as_deref(), on_page) {
            return self.looped(&error, report.bytes);
        }
        self.renew_budget();
        let size = self.size_of_all(token.complete_list_size);
        self.push_page(report.bytes, size, None);
        Ok(())
    }

    /// Ends a list that has no more pages, or reads more of it if records may be missing.
    pub(super) fn end_list(&mut self, bytes: u64, announced: Option<u64>) {
        let size = self.size_of_all(announced);
        let ended_early = self.state.windows.last().is_some_and(|window| {
            window.pass == Pass::First && !self.state.sizes_unreliable && self.ended_early(window)
        });
        let reason = if ended_early && self.begin_behind_what_came() {
            Some("the list ended before it was complete")
        } else if self.read_again() {
            Some(
                "records may have been passed over, because the list changed or ended before it was complete",
            )
        } else {
            None
        };
        if reason.is_none() {
            self.drop_list();
        }
        self.push_page(bytes, size, reason.map(str::to_owned));
    }

    /// Takes a list that is done off the stack.
    pub(super) fn drop_list(&mut self) {
        if let Some(window) = self.state.windows.pop()
            && window.exact
            && window.given == 0
            && self.state.until != Some(Until::Inclusive)
        {
            // Either there is nothing, or it is what broke the list and `until` is exclusive.
            let reason = self.state.patch.as_ref().map(|patch| patch.reason.clone());
            self.give_up(&window, reason.unwrap_or_default());
        }
        self.forget_list();
        self.listed.forget();
        self.confirm_cuts();
        self.close_patch();
    }

    /// Goes on by date with a list that may have ended early. Where lists are not in the order of dates that would be all
    /// of it again, with the same end.
    pub(super) fn begin_behind_what_came(&mut self) -> bool {
        let (ordered, granularity) = (self.state.ordered(), self.state.granularity());
        let Some(window) = self.state.windows.last_mut() else {
            return false;
        };
        let mut rest = window.clone();
        if !rest.restart(ordered, granularity) {
            return false;
        }
        rest.restarts += 1;
        *window = rest;
        self.forget_list();
        true
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

    /// How many records there are in all, by the size that a page tells of its list. The parts of a list that was cut are
    /// no measure of the whole, and a list that was begun behind what came is the rest.
    fn size_of_all(&self, size: Option<u64>) -> Option<u64> {
        if self.state.patch.is_some() {
            return None;
        }
        let (size, window) = (size?, self.state.windows.last()?);
        let size = match window.tally.remaining {
            // Some servers tell how many are still to come.
            true => window.tally.size.unwrap_or(size),
            false => size,
        };
        Some(size.saturating_add(self.state.given.saturating_sub(window.given)))
    }

    /// The repository's own time as far as it is known, else ours.
    pub(super) fn now(&self) -> i64 {
        self.state.began.unwrap_or_else(|| self.clock())
    }
}

/// Clocks may differ by as much before a datestamp counts as one of the future.
const CLOCK_SLACK: i64 = 86_400;
