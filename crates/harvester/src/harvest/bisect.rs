//! Pages that cannot be read: their dates are halved, until only the bad record is left out.

use super::run::Harvest;
use super::window::{Cut, Window};
use super::{Method, Step};
use crate::Quirk;
use crate::error::{Error, ErrorKind, Incompatibility, Misbehaviour};
use crate::read::Report;
use crate::record::LeftOut;

impl Harvest {
    /// A page could not be read to its end.
    pub(super) fn fail(&mut self, error: Error, bytes: u64) -> Result<(), Error> {
        let begun = self.state.began.is_some();
        let resumed = self.state.windows.last().is_some_and(|w| w.token.is_some());
        match error.kind() {
            ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(_)) if resumed => self
                .expired(Report {
                    bytes,
                    ..Report::default()
                }),
            ErrorKind::Transport(_) | ErrorKind::Busy(_) if self.is_alive() => {
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
            ErrorKind::RepositoryMisbehaved(_) if begun => self.narrow(&error, bytes),
            _ => Err(error),
        }
    }

    /// Whether the repository answers at all, so that the fault lies with one page.
    pub(super) fn is_alive(&self) -> bool {
        self.repository.identify().is_ok()
    }

    /// Cuts the current window, until the record that cannot be read is alone.
    pub(super) fn narrow(&mut self, error: &Error, bytes: u64) -> Result<(), Error> {
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
            // Nothing is wrong with it; it will be there later.
            (Cut::Grain, Method::ListIdentifiers) if matches!(error.kind(), ErrorKind::Busy(_)) => {
                self.state.windows.push(window);
                return Err(error.clone());
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

    pub(super) fn push_halves(&mut self, (earlier, later): (Window, Window)) {
        self.state.windows.push(later);
        self.state.windows.push(earlier);
    }
}

/// Where nothing else is known, no record is older: the protocol is of 2001, files of 1970.
pub(super) const EARLIEST: i64 = 0;
/// As many parts in a row that cannot be read mean that none can. One bad record among 2^32 seconds
/// takes 33 cuts.
const MOST_FAILURES: u32 = 60;
