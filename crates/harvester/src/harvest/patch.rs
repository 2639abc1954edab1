//! A span that could not be read as one list and is read in parts: how much is spent on it, and whether all of it came.

use serde::{Deserialize, Serialize};

use super::Method;
use super::run::Harvest;
use super::tally::Pass;
use super::window::Window;
use crate::ClientEvent;
use crate::record::LeftOut;

/// A span that is read in parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Patch {
    /// How many windows lie below its parts.
    pub(super) base: usize,
    /// The whole span.
    pub(super) span: Window,
    /// The completeListSize of the list that broke, and how many records were met before it began.
    pub(super) size: Option<u64>,
    pub(super) met_before: u64,
    /// Why the list was cut.
    pub(super) reason: String,
    /// Whether there has to be a record that breaks the list.
    pub(super) is_broken: bool,
    /// Whether such a record was found, or a part was given up.
    pub(super) has_culprit: bool,
    /// Whether it was cut within a day before it was known what `until` means.
    #[serde(default)]
    pub(super) on_trust: bool,
    /// How many requests have failed, and since when.
    pub(super) failures: u32,
    pub(super) since: i64,
}

/// The budget left for a broken page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Budget {
    /// Spans may be cut.
    Cuts,
    /// Records may be asked for one by one.
    Singles,
    /// Each part is asked for once.
    Nothing,
}

impl Harvest {
    /// Begins to read a span in parts, after its window was taken off the stack. `false` if it is a part itself.
    pub(super) fn open_patch(
        &mut self,
        span: &Window,
        size: Option<u64>,
        reason: &str,
        is_broken: bool,
    ) -> bool {
        if self.state.patch.is_some() {
            return false;
        }
        self.state.patch = Some(Patch {
            base: self.state.windows.len(),
            span: span.clone(),
            size,
            met_before: span.tally.before.map_or(0, |(met, _)| met),
            reason: reason.to_owned(),
            is_broken,
            has_culprit: false,
            on_trust: false,
            failures: 0,
            since: self.clock(),
        });
        true
    }

    /// The budget left for the current bad page.
    pub(super) fn budget(&self) -> Budget {
        let Some(patch) = &self.state.patch else {
            return Budget::Cuts;
        };
        let seconds = self.clock() - patch.since;
        if patch.failures > MOST_FAILED || seconds > MOST_SECONDS + MOST_SECONDS / 2 {
            Budget::Nothing
        } else if patch.failures > MOST_CUTS || seconds > MOST_SECONDS {
            Budget::Singles
        } else {
            Budget::Cuts
        }
    }

    /// Counts a request for the current bad page that failed.
    pub(super) fn spend(&mut self) {
        if let Some(patch) = &mut self.state.patch {
            patch.failures += 1;
        }
    }

    /// Text to add to the reason if the budget is spent.
    pub(super) fn spent(&self) -> String {
        let Some(patch) = &self.state.patch else {
            return String::new();
        };
        match self.budget() {
            Budget::Cuts => String::new(),
            Budget::Singles | Budget::Nothing => format!(
                "; given up after {} failed requests in {} s, as much as is spent on one bad page",
                patch.failures,
                (self.clock() - patch.since).max(0)
            ),
        }
    }

    /// A page of a part was read and more follow: what comes next is another page, with a budget of its own.
    pub(super) fn renew_budget(&mut self) {
        let now = self.clock();
        match &mut self.state.patch {
            Some(patch) if patch.is_broken => {
                patch.failures = 0;
                patch.since = now;
            }
            Some(_) => {}
            // The rest of a list behind a bad page is a list as any other.
            None => {
                if let Some(window) = self.state.windows.last_mut() {
                    window.part &= window.pass == Pass::Check;
                }
            }
        }
    }

    /// Notes that the record that breaks the current span was found.
    pub(super) fn blame(&mut self) {
        if let Some(patch) = &mut self.state.patch {
            patch.has_culprit = true;
        }
    }

    /// Gives up a span.
    pub(super) fn give_up(&mut self, window: &Window, reason: String) {
        self.blame();
        self.state.holes += 1;
        let dates = window.dates(self.state.granularity());
        self.decide(|| format!("giving up {} to {}: {reason}", dates.0, dates.1));
        self.leave_out(LeftOut {
            identifier: None,
            dates: Some(dates),
            reason,
        });
    }

    /// Ends the patch if all its parts are read, and looks for what may be missing.
    pub(super) fn close_patch(&mut self) {
        let windows = self.state.windows.len();
        let Some(patch) = self.state.patch.take_if(|patch| windows <= patch.base) else {
            return;
        };
        let listener = &self.repository.client().options().listener;
        listener.tell(|| ClientEvent::Narrowed);
        if self.is_proven(&patch) {
            return;
        }
        let mut check = Window::new(patch.span.from, patch.span.until, Method::ListIdentifiers);
        check.cut = patch.span.cut;
        check.part = true;
        check.pass = Pass::Check;
        if self.remembers_since(patch.met_before) || self.resumed_at > patch.met_before {
            self.state.windows.push(check);
        } else {
            self.fail_check(&check, "there are too many of them");
        }
    }

    /// Whether all records of a span that was read in parts came, or what is missing was told.
    fn is_proven(&self, patch: &Patch) -> bool {
        let met = self.met().saturating_sub(patch.met_before);
        match patch.size {
            Some(size) if met >= size => true,
            _ if patch.on_trust && self.state.until.is_none() => false,
            _ if patch.has_culprit => true,
            Some(_) => false,
            None => !patch.is_broken,
        }
    }

    /// Tells that nobody knows whether all records of a span came.
    pub(super) fn fail_check(&mut self, check: &Window, reason: &str) {
        self.give_up(
            check,
            format!(
                "the list could be read in parts only, without a record that explains why, and whether all records \
                 came cannot be checked: {reason}"
            ),
        );
    }

    /// Our own clock.
    pub(super) fn clock(&self) -> i64 {
        let now = self.repository.client().options().pace.now();
        let since = now.duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs().cast_signed())
    }
}

impl Window {
    /// The dates that it covers, for messages.
    pub(super) fn dates(&self, granularity: oai::Granularity) -> (String, String) {
        let bound = |moment: Option<i64>| {
            moment.map_or_else(
                || "…".to_owned(),
                |moment| super::window::written(moment, granularity),
            )
        };
        (bound(self.from), bound(self.until))
    }
}

/// After as many failed requests for one bad page its parts are not cut further, and records asked for one by one. A bad
/// record among 2^32 seconds takes 33 cuts.
const MOST_CUTS: u32 = 40;
/// After as many, records are not asked for one by one either.
const MOST_FAILED: u32 = 100;
/// The same in seconds.
const MOST_SECONDS: i64 = 600;
