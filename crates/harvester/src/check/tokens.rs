//! The rules of resumption tokens.

use std::collections::BTreeSet;

use super::Check;
use super::answer::{Answer, Token};

impl Check<'_> {
    pub(super) fn tokens(&mut self) {
        let prefix = self.facts.prefix.clone();
        let first = [
            ("verb", "ListIdentifiers"),
            ("metadataPrefix", prefix.as_str()),
        ];
        let Some(mut page) = self.ask(&first) else {
            return self.skip("paging", "ListIdentifiers got no answer that could be read");
        };
        if page.records.is_empty() && !page.has_error("noRecordsMatch") {
            return self.fail(
                "paging",
                format!("ListIdentifiers: {}", page.summary()),
                &page.url,
            );
        }
        self.headers(&page);
        let mut seen = BTreeSet::new();
        for pages in 0.. {
            self.deletions(&page);
            self.size(&page, seen.len(), pages > 0);
            let twice = page
                .records
                .iter()
                .find(|record| !seen.insert(record.identifier.clone()));
            if let Some(record) = twice {
                let finding = format!("`{}` is in the list twice", record.identifier);
                return self.fail("paging", finding, &page.url);
            }
            let Some(token) = page.token.clone().filter(|token| !token.text.is_empty()) else {
                return self.last_page(&page, pages);
            };
            if page.records.is_empty() {
                return self.fail(
                    "paging",
                    "a page has a token, but no records".to_owned(),
                    &page.url,
                );
            }
            if pages + 1 >= self.limits.pages {
                return self.pass("paging");
            }
            let Some(next) = self.next(&token, &page, pages == 0) else {
                return;
            };
            page = next;
            self.headers(&page);
        }
    }

    /// Looks at the further pages of a list of records, whose tokens were checked by the list of headers.
    pub(super) fn further_records(&mut self, mut page: Answer) {
        for _ in 1..self.limits.pages {
            let token = page.token.as_ref().map(|token| token.text.clone());
            let Some(token) = token.filter(|token| !token.is_empty()) else {
                return;
            };
            let resume = [("verb", "ListRecords"), ("resumptionToken", token.as_str())];
            match self.ask(&resume) {
                Some(next) if !next.records.is_empty() => page = next,
                _ => return,
            }
            self.headers(&page);
            self.metadata(&page);
        }
    }

    /// The page that a token leads to.
    fn next(&mut self, token: &Token, page: &Answer, is_first: bool) -> Option<Answer> {
        let resume = [
            ("verb", "ListIdentifiers"),
            ("resumptionToken", token.text.as_str()),
        ];
        let Some(next) = self.ask(&resume) else {
            let finding = "the token of this page got no answer that could be read".to_owned();
            self.fail("paging", finding, &page.url);
            return None;
        };
        if !next.errors.is_empty() {
            let finding = format!(
                "the token was given on the page before, but {}",
                next.summary()
            );
            self.fail("paging", finding, &next.url);
            return None;
        }
        if next
            .token
            .as_ref()
            .is_some_and(|other| other.text == token.text)
        {
            let finding = "the token of this page leads to this page again".to_owned();
            self.fail("paging", finding, &next.url);
            return None;
        }
        if is_first && let Some(again) = self.ask(&resume) {
            match again.records == next.records {
                true => self.pass("token-again"),
                false => {
                    let finding = format!("the second time {}, not the same page", again.summary());
                    self.fail("token-again", finding, &again.url);
                }
            }
        }
        Some(next)
    }

    fn last_page(&mut self, page: &Answer, pages: usize) {
        match (pages, &page.token) {
            (0, _) => self.skip("paging", "the list has one page only"),
            (_, Some(_)) => self.pass("paging"),
            (_, None) => {
                let finding =
                    "the last page of a list must have an empty resumptionToken".to_owned();
                self.fail("paging", finding, &page.url);
            }
        }
    }

    fn size(&mut self, page: &Answer, before: usize, is_resumed: bool) {
        let Some(token) = &page.token else { return };
        let number = |text: &Option<String>| text.as_ref().map(|text| text.parse::<u64>());
        let (cursor, size) = (number(&token.cursor), number(&token.size));
        let (before, shown) = (before as u64, page.records.len() as u64);
        let is_last = token.text.is_empty();
        let finding = match (cursor, size) {
            (Some(Err(_)), _) | (_, Some(Err(_))) => {
                "cursor or completeListSize is no number".to_owned()
            }
            (Some(Ok(cursor)), _) if cursor != before => {
                format!("the cursor is {cursor}, but {before} records were before this page")
            }
            (_, Some(Ok(size))) if size < before + shown => {
                format!(
                    "completeListSize is {size}, but {} records were given",
                    before + shown
                )
            }
            (_, Some(Ok(size))) if is_last && is_resumed && size != before + shown => {
                // The size may be an estimate.
                let finding = format!(
                    "completeListSize is {size}, but the list had {} records",
                    before + shown
                );
                return self.warn("list-size", finding, &page.url);
            }
            (None, None) => return,
            _ => return self.pass("list-size"),
        };
        self.fail("list-size", finding, &page.url);
    }
}
