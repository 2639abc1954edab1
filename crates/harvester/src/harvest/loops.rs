//! Lists that would not end by themselves.
//!
//! The pages that one process has seen are remembered whole. The state that is kept with each page remembers
//! enough to notice the same later, if the harvest is interrupted again and again.

use serde::{Deserialize, Serialize};

use super::circle::Circle;
use super::run::Harvest;
use super::tally::Pass;
use crate::Quirk;
use crate::error::{Error, ErrorKind, Misbehaviour};
use crate::keys::Keys;

/// The part of the current list that this process has seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    tokens: Keys,
    first_records: Keys,
    repeated_pages: u32,
}

/// The memory kept of the way through the current list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Way {
    tokens: Circle,
    first_records: Circle,
    empty_pages: u32,
    /// The first record of the list.
    #[serde(default)]
    first: Option<String>,
}

impl Harvest {
    /// A list would not end by itself: goes on by date, unless all of it came.
    pub(super) fn looped(&mut self, error: &Error, bytes: u64) -> Result<(), Error> {
        self.page.quirks.add(Quirk::ListLoops);
        self.state.loops += 1;
        let Some(window) = self.state.windows.last() else {
            return Ok(());
        };
        if window.pass == Pass::Check {
            return self.narrow(error, bytes);
        }
        let met = window.tally.before.map_or(0, |(met, _)| met);
        let came = self.met().saturating_sub(met);
        let (size, came) = (window.tally.size, came.saturating_sub(window.tally.moved));
        let nothing_new = window.tally.fresh == 0;
        // Pages from before an interruption may come again.
        let is_complete = self.resumed_at <= met && size.is_some_and(|size| came >= size);
        if is_complete || !self.begin_behind_what_came() {
            // Where lists are in the order of dates, nothing lies behind the newest, and this list has come back to its
            // first page.
            let begins_anew = matches!(
                error.kind(),
                ErrorKind::RepositoryMisbehaved(Misbehaviour::ListRepeated(first))
                    if Some(first) == self.state.way.first.as_ref()
            );
            let has_ended = size.is_none() && nothing_new && begins_anew && self.state.ordered();
            if is_complete || has_ended {
                self.drop_list();
                self.push_page(bytes, size, None);
                return Ok(());
            }
            return self.narrow(error, bytes);
        }
        self.push_page(bytes, size, Some(error.to_string()));
        Ok(())
    }

    /// Finds out that a list would not end by itself.
    pub(super) fn check_loop(
        &mut self,
        token: &str,
        sent: Option<&str>,
        on_page: u64,
    ) -> Result<(), Error> {
        self.check_token(token, sent)?;
        self.check_empty(on_page)?;
        self.check_first_record()
    }

    fn check_token(&mut self, token: &str, sent: Option<&str>) -> Result<(), Error> {
        let known = !self.seen.tokens.insert(self.recent.of_text(token));
        let repeated = match sent == Some(token) {
            // Quirk: servers that keep the place in a session give one token for all pages.
            true => {
                self.page.quirks.add(Quirk::TokenUnchanged);
                self.page.records == 0
            }
            false => known || self.state.way.tokens.step(token) > 0,
        };
        match repeated {
            true => Err(Misbehaviour::TokenRepeated(token.to_owned()).into()),
            false => Ok(()),
        }
    }

    fn check_empty(&mut self, on_page: u64) -> Result<(), Error> {
        let empty_pages = &mut self.state.way.empty_pages;
        if on_page > 0 {
            *empty_pages = 0;
            return Ok(());
        }
        self.page.quirks.add(Quirk::EmptyPage);
        *empty_pages += 1;
        // A server that was found out once is not waited for as long again.
        let most = match self.state.loops {
            0 => MOST_EMPTY_PAGES,
            _ => MOST_EMPTY_PAGES_AGAIN,
        };
        match *empty_pages >= most {
            true => Err(Misbehaviour::EmptyPages(*empty_pages).into()),
            false => Ok(()),
        }
    }

    /// Pages that begin with a record that another began with, three times in a row or each time
    /// with the same one.
    fn check_first_record(&mut self) -> Result<(), Error> {
        let Some((first, identifier)) = self.page.first.take() else {
            return Ok(());
        };
        self.state
            .way
            .first
            .get_or_insert_with(|| identifier.clone());
        let seen = &mut self.seen;
        seen.repeated_pages = match seen.first_records.insert(first) {
            true => 0,
            false => seen.repeated_pages + 1,
        };
        let met = self.state.way.first_records.step(&identifier);
        match seen.repeated_pages.max(met) >= MOST_REPEATED_PAGES {
            true => Err(Misbehaviour::ListRepeated(identifier).into()),
            false => Ok(()),
        }
    }

    pub(super) fn forget_list(&mut self) {
        self.seen = Seen::default();
        self.state.way = Way::default();
    }
}

const MOST_EMPTY_PAGES: u32 = 50;
const MOST_EMPTY_PAGES_AGAIN: u32 = 5;
const MOST_REPEATED_PAGES: u32 = 3;
