//! Lists that would not end by themselves.

use super::run::Harvest;
use crate::Quirk;
use crate::error::{Error, Misbehaviour};

impl Harvest {
    /// Ends a list that would not end by itself.
    pub(super) fn check_loop(
        &mut self,
        token: &str,
        sent: Option<&str>,
        on_page: u64,
    ) -> Result<(), Error> {
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

    pub(super) fn forget_list(&mut self) {
        self.tokens.clear();
        self.first_records.clear();
        self.repeated_pages = 0;
        self.empty_pages = 0;
    }
}

const MOST_EMPTY_PAGES: u32 = 50;
const MOST_REPEATED_PAGES: u32 = 3;
