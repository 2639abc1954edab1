//! The meaning that a server gives to `until`: whether the moment itself is within, and whether its time of day counts.
//!
//! Spans that a harvest cuts overlap by one tick of the granularity, because for many servers `until` is exclusive. For
//! others it means midnight, even where dates have seconds: their lists are cut at midnight alone.

use serde::{Deserialize, Serialize};

use super::run::Harvest;
use super::window::{Window, grain, start_of, written};
use crate::Quirk;
use crate::client::Patience;
use crate::read::PageItem;

/// The meaning that was found for `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Until {
    /// With the moment, as the protocol says.
    Inclusive,
    /// Without the moment.
    Exclusive,
    /// Not what was sent: the time of day is ignored, or shifted.
    Coarse,
}

impl Harvest {
    /// Notes a datestamp that `until` can be tried with.
    pub(super) fn note_sample(&mut self, moment: i64) {
        let state = &mut self.state;
        // At midnight a server that ignores the time of day is not found out.
        if state.sample.is_none() && (state.days || moment.rem_euclid(DAY) != 0) {
            state.sample = Some(moment);
        }
    }

    /// The finest grain at which a window may be cut, in seconds. Cuts within a day are made on trust where nothing is
    /// known.
    pub(super) fn cutting_grain(&self, window: &Window, bounds: (i64, i64)) -> i64 {
        let day = |moment: i64| moment.div_euclid(DAY);
        let from = day(window.from.unwrap_or(bounds.0));
        let is_long = from < day(window.until.unwrap_or(bounds.1));
        match self.state.until {
            Some(Until::Inclusive | Until::Exclusive) => grain(self.state.granularity()),
            Some(Until::Coarse) => DAY,
            None if is_long => DAY,
            None => grain(self.state.granularity()),
        }
    }

    /// Learns what `until` means if spans were cut within a day on trust; begins with the whole span again if that was
    /// wrong.
    pub(super) fn confirm_cuts(&mut self) {
        if !self
            .state
            .patch
            .as_ref()
            .is_some_and(|patch| patch.on_trust)
        {
            return;
        }
        self.learn_until();
        if self.state.until != Some(Until::Coarse) {
            return;
        }
        if let Some(patch) = &mut self.state.patch {
            patch.on_trust = false;
            self.state.windows.truncate(patch.base);
            let mut span = Window::new(patch.span.from, patch.span.until, patch.span.method);
            span.part = true;
            span.cut = patch.span.cut;
            self.state.windows.push(span);
        }
    }

    /// Finds out what `until` means, by asking for a record that is known to be there.
    pub(super) fn learn_until(&mut self) {
        if self.state.until.is_some() || self.probes == MOST_PROBES {
            return;
        }
        let Some(sample) = self.state.sample else {
            return;
        };
        self.probes += 1;
        let granularity = self.state.granularity();
        let tick = grain(granularity);
        let sample = start_of(sample, granularity);
        let until = match self.lists(sample, sample) {
            Some(true) => Some(Until::Inclusive),
            Some(false) => match self.lists(sample, sample + tick) {
                Some(true) => Some(Until::Exclusive),
                Some(false) => Some(Until::Coarse),
                None => None,
            },
            None => None,
        };
        if until.is_none() {
            // The record behind it may be the one that breaks lists; another sample may do.
            self.state.sample = None;
        }
        if until.is_some_and(|until| until != Until::Inclusive) {
            self.page.quirks.add(Quirk::UntilNotIncluded);
        }
        self.state.until = until;
    }

    /// Whether a list between two moments has a record of the first; `None` if it cannot be read.
    fn lists(&self, from: i64, until: i64) -> Option<bool> {
        let granularity = self.state.granularity();
        let plan = &self.state.plan;
        let (lower, upper) = (written(from, granularity), written(until, granularity));
        let mut arguments = vec![
            ("verb", "ListIdentifiers"),
            ("metadataPrefix", &plan.metadata_prefix),
        ];
        arguments.extend(plan.set.as_deref().map(|set| ("set", set)));
        arguments.extend([("from", lower.as_str()), ("until", upper.as_str())]);
        let repository = self.repository.with_patience(Patience::Brief);
        let mut page = repository.page(&arguments).impatient();
        loop {
            match page.next() {
                Ok(Some(PageItem::Header(header))) => {
                    let moment = header.moment().map(|moment| moment.seconds());
                    if moment.is_some_and(|moment| start_of(moment, granularity) == from) {
                        return Some(true);
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => return Some(false),
                Err(_) => return None,
            }
        }
    }
}

const DAY: i64 = 86_400;
/// As many samples are tried.
const MOST_PROBES: u32 = 3;
