//! Lists that would not end by themselves.
//!
//! What one process has seen is remembered whole. The state that is kept with each page remembers
//! enough to notice the same later, if the harvest is interrupted again and again.

use serde::{Deserialize, Serialize};

use super::circle::Circle;
use super::run::Harvest;
use crate::Quirk;
use crate::error::{Error, Misbehaviour};
use crate::keys::Keys;

/// What this process has seen of the current list.
#[derive(Debug, Default)]
pub(super) struct Seen {
    tokens: Keys,
    first_records: Keys,
    repeated_pages: u32,
}

/// What is kept of the way through the current list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Way {
    tokens: Circle,
    first_records: Circle,
    empty_pages: u32,
}

impl Harvest {
    /// Ends a list that would not end by itself.
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
        match *empty_pages >= MOST_EMPTY_PAGES {
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
const MOST_REPEATED_PAGES: u32 = 3;
