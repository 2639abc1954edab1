//! Pages that cannot be read: their dates are halved, until only the bad record is left out.

use super::Method;
use super::patch::Budget;
use super::run::Harvest;
use super::tally::Pass;
use super::until::Until;
use super::window::{Cut, Window};
use crate::error::{Error, ErrorKind, Incompatibility, Misbehaviour};
use crate::read::Report;
use crate::{ClientEvent, Narrowing, Quirk};

impl Harvest {
    /// A page could not be read to its end.
    pub(super) fn fail(&mut self, error: Error, bytes: u64) -> Result<(), Error> {
        // A file is whole or broken; asking for a part of it would be asking for all of it again.
        if self.repository.is_static() {
            return Err(error);
        }
        let begun = self.state.began.is_some();
        let resumed = self.state.windows.last().is_some_and(|w| w.token.is_some());
        let part = self.state.windows.last().is_some_and(|w| w.part);
        match error.kind() {
            // The same list ends here again, although it was begun anew: it is not the token.
            ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(401 | 403 | 407))
                if resumed && self.has_restarted_in_vain() =>
            {
                Err(error)
            }
            ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(_)) if resumed => self
                .expired(Report {
                    bytes,
                    ..Report::default()
                }),
            ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(status))
                if is_refusal(*status) && self.asks_without_dates() =>
            {
                Ok(())
            }
            ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(_)) if part => {
                self.narrow(&error, bytes)
            }
            ErrorKind::Transport(_) | ErrorKind::Busy(_) if self.is_first_page_given_up() => {
                self.decide(|| {
                    let parts = self.first_page_parts;
                    let asked = match parts {
                        0 => "its parts are not asked for".to_owned(),
                        parts => format!("{parts} parts of it did not come either"),
                    };
                    format!("giving up: the first page of the list never came, and {asked} (first-page-parts)")
                });
                Err(error)
            }
            ErrorKind::Transport(_) | ErrorKind::Busy(_)
                if self.state.patch.is_some() || self.repository.is_alive() =>
            {
                self.narrow(&error, bytes)
            }
            ErrorKind::RepositoryMisbehaved(Misbehaviour::Redirect(_)) => Err(error),
            ErrorKind::RepositoryMisbehaved(
                Misbehaviour::Broken { .. }
                | Misbehaviour::Truncated { .. }
                | Misbehaviour::TooDeep { .. }
                | Misbehaviour::TooLong { .. }
                | Misbehaviour::NotText { .. },
            ) => self.narrow(&error, bytes),
            // From the first page on nothing but this: there is no use in asking for parts.
            ErrorKind::RepositoryMisbehaved(_) if begun || part => self.narrow(&error, bytes),
            _ => Err(error),
        }
    }

    /// Whether the current list was begun anew before and did not get any further, or cannot begin at a date.
    fn has_restarted_in_vain(&self) -> bool {
        let (ordered, granularity) = (self.state.ordered(), self.state.granularity());
        let window = self.state.windows.last();
        window.is_some_and(|window| {
            window.pass != Pass::Check
                && window.restarts > 0
                && (window.from.is_none() || window.reached(ordered, granularity) <= window.from)
        })
    }

    /// Whether no page of the list ever came, and enough of its parts were asked for.
    fn is_first_page_given_up(&self) -> bool {
        self.state.began.is_none() && self.state.failures >= self.first_page_parts
    }

    /// Cuts the current window, until the record that cannot be read is alone.
    pub(super) fn narrow(&mut self, error: &Error, bytes: u64) -> Result<(), Error> {
        let is_loop = is_loop(error);
        if !is_loop {
            self.page.quirks.add(Quirk::PageBroken);
        }
        self.page.headers.clear();
        self.state.failures += 1;
        if self.state.failures > MOST_FAILURES && self.state.given == 0 {
            return Err(Misbehaviour::Hopeless(MOST_FAILURES, error.to_string()).into());
        }
        self.learn_until();
        let Some(mut window) = self.state.windows.pop() else {
            return Ok(());
        };
        if window.pass == Pass::Check {
            self.lose_check(window, error)?;
        } else {
            // The rest of the page covers about as much time as the part that could be read, or as the page before.
            let likely = window.newest.filter(|_| self.state.ordered());
            let likely = likely.map(|newest| {
                let length = self.page.oldest.map(|oldest| newest - oldest);
                newest + length.unwrap_or(window.page_length) + 1
            });
            let size = window.tally.size;
            let progress = window.restart(self.state.ordered(), self.state.granularity());
            window.restarts += 1;
            window.part = true;
            self.forget_list();
            self.listed.forget();
            let is_new = self.open_patch(&window, size, &error.to_string(), !is_loop);
            let rest_is_apart = is_new && progress && likely.is_some();
            self.spend();
            match self.cut(&window, likely) {
                Cut::Halves(halves) => {
                    self.tell_step(&halves.0, error);
                    match rest_is_apart {
                        true => self.push_with_rest(&window, *halves),
                        false => self.push_halves(*halves),
                    }
                }
                Cut::Grain => self.isolate(window, error)?,
            }
        }
        self.confirm_cuts();
        self.close_patch();
        self.push_page(bytes, None, Some(error.to_string()));
        Ok(())
    }

    /// Cuts a window as finely as the server's `until` allows and the budget permits.
    pub(super) fn cut(&mut self, window: &Window, likely: Option<i64>) -> Cut {
        if self.budget() != Budget::Cuts {
            return Cut::Grain;
        }
        let bounds = (self.state.earliest.unwrap_or(EARLIEST), self.now());
        let grain = self.cutting_grain(window, bounds);
        if let Some(patch) = &mut self.state.patch {
            patch.on_trust |= self.state.until.is_none() && grain == 1;
        }
        window.cut(bounds, likely, grain)
    }

    /// Tells which part is asked for next, and how many cuts are left until it is as small as can be.
    fn tell_step(&self, part: &Window, error: &Error) {
        let bounds = (self.state.earliest.unwrap_or(EARLIEST), self.now());
        let grain = self.cutting_grain(part, bounds);
        let cuts = |window: &Window| {
            let length = window.until.unwrap_or(bounds.1) - window.from.unwrap_or(bounds.0) + 1;
            let grains = u64::try_from(length / grain).unwrap_or_default();
            grains.max(1).next_power_of_two().ilog2()
        };
        let listener = &self.repository.client().options().listener;
        listener.tell(|| {
            let span = self.state.patch.as_ref().map(|patch| cuts(&patch.span));
            let steps = span.unwrap_or_default().max(cuts(part) + 1);
            ClientEvent::Narrowing(Narrowing {
                step: steps - cuts(part),
                steps,
                grain: grain.unsigned_abs(),
                span: part.dates(self.state.granularity()),
                reason: error.kind().to_string(),
            })
        });
    }

    /// Tells of a decision about how the list is read on.
    pub(super) fn decide(&self, decision: impl FnOnce() -> String) {
        let listener = &self.repository.client().options().listener;
        listener.tell(|| ClientEvent::Decision(decision()));
    }

    pub(super) fn push_halves(&mut self, (earlier, later): (Window, Window)) {
        self.state.windows.push(later);
        self.state.windows.push(earlier);
    }

    /// Where lists are in the order of dates, the later half is the list itself, behind the bad page.
    fn push_with_rest(&mut self, window: &Window, (earlier, mut later): (Window, Window)) {
        later.restarts = window.restarts;
        later.tally = window.tally.clone();
        self.state.windows.push(later);
        if let Some(patch) = &mut self.state.patch {
            patch.base = self.state.windows.len();
            patch.met_before = self.state.given + self.state.lost;
            patch.size = None;
            patch.span = earlier.clone();
        }
        self.state.windows.push(earlier);
    }

    /// Asks in another way for a span that cannot be cut further, or gives it up.
    fn isolate(&mut self, mut window: Window, error: &Error) -> Result<(), Error> {
        let budget = self.budget();
        let may_be_behind = window.cut && !window.exact && budget == Budget::Cuts;
        let is_inclusive = matches!(self.state.until, None | Some(Until::Inclusive));
        match window.method {
            Method::ListRecords if budget != Budget::Nothing => {
                self.decide(|| {
                    let (from, until) = window.dates(self.state.granularity());
                    format!("asking for the records from {from} to {until} one by one")
                });
                window.method = Method::ListIdentifiers;
                self.state.windows.push(window);
            }
            // The bad record may be the one behind the span, which the overlap brings in.
            Method::ListIdentifiers if may_be_behind && is_inclusive => {
                window.method = self.state.plan.method;
                window.exact = true;
                self.state.windows.push(window);
            }
            _ => {
                self.expect_alive(error)?;
                let reason = format!("{error}{}", self.spent());
                self.give_up(&window, reason);
            }
        }
        Ok(())
    }

    /// Nothing is given up where the repository is away, or busy: it will be there later.
    fn expect_alive(&self, error: &Error) -> Result<(), Error> {
        let is_away = match error.kind() {
            ErrorKind::Busy(_) => true,
            ErrorKind::Transport(_) => !self.repository.is_alive(),
            _ => false,
        };
        match is_away {
            true => Err(error.clone()),
            false => Ok(()),
        }
    }

    /// The headers of a span could not be read.
    pub(super) fn lose_check(&mut self, window: Window, error: &Error) -> Result<(), Error> {
        self.expect_alive(error)?;
        self.forget_list();
        self.listed.forget();
        self.fail_check(&window, &error.to_string());
        Ok(())
    }
}

/// Whether a list that does not end is at fault, and no record of it.
fn is_loop(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::RepositoryMisbehaved(
            Misbehaviour::TokenRepeated(_)
                | Misbehaviour::ListRepeated(_)
                | Misbehaviour::EmptyPages(_)
        )
    )
}

/// Whether a status may mean that dates are refused.
fn is_refusal(status: u16) -> bool {
    (400..500).contains(&status) && ![401, 403, 404, 407, 410].contains(&status)
}

/// Where nothing else is known, no record is older: the protocol is of 2001, files of 1970.
pub(super) const EARLIEST: i64 = 0;
/// As many parts in a row that cannot be read, before anything was given, mean that none can.
const MOST_FAILURES: u32 = 60;
