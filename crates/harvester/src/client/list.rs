//! Whole lists as iterators: page after page, until the repository has no more.
//!
//! These are for callers that need no resuming; `Harvest` is the one that loses nothing.

use std::collections::HashSet;

use oai::ErrorCode;

use super::repository::code;
use super::{PageStream, Repository};
use crate::error::{Error, Misbehaviour};
use crate::read::PageItem;
use crate::record::{Header, Record, Set};

/// All records of a list.
pub type Records = List<Record>;
/// All headers of a list.
pub type Headers = List<Header>;

/// A list that is read while it is gone through.
pub struct List<T> {
    repository: Repository,
    verb: &'static str,
    arguments: Vec<(&'static str, String)>,
    page: Option<PageStream>,
    tokens: HashSet<String>,
    empty_pages: u32,
    found_on_page: bool,
    take: fn(PageItem) -> Option<T>,
    /// The lent value.
    lent: Option<T>,
}

impl<T> List<T> {
    pub(super) fn new(
        repository: Repository,
        verb: &'static str,
        selection: &[(&'static str, &str)],
        take: fn(PageItem) -> Option<T>,
    ) -> Self {
        let mut arguments = vec![("verb", verb.to_owned())];
        let selection = selection.iter();
        arguments.extend(selection.map(|(name, value)| (*name, (*value).to_owned())));
        let page = repository.page(&borrowed(&arguments));
        Self {
            repository,
            verb,
            arguments,
            page: Some(page),
            tokens: HashSet::new(),
            empty_pages: 0,
            found_on_page: false,
            take,
            lent: None,
        }
    }

    fn advance(&mut self) -> Result<Option<T>, Error> {
        while let Some(page) = &mut self.page {
            let found = match page.next() {
                Ok(found) => found,
                Err(error) => {
                    self.page = None;
                    return Err(error);
                }
            };
            match found {
                Some(PageItem::LeftOut(left_out)) => {
                    self.found_on_page = true;
                    // One record is lost, and the list goes on.
                    let name = left_out.identifier.unwrap_or_default();
                    return Err(Misbehaviour::Broken {
                        offset: 0,
                        after: None,
                        reason: format!("the record `{name}`: {}", left_out.reason),
                    }
                    .into());
                }
                Some(found) => {
                    self.found_on_page = true;
                    if let Some(item) = (self.take)(found) {
                        return Ok(Some(item));
                    }
                }
                None => self.turn()?,
            }
        }
        Ok(None)
    }

    /// Goes on to the next page, if there is one.
    fn turn(&mut self) -> Result<(), Error> {
        let Some(page) = self.page.take() else {
            return Ok(());
        };
        let (report, _) = page.finish();
        let none = [ErrorCode::NoRecordsMatch, ErrorCode::NoSetHierarchy];
        if code(&report).is_some_and(|code| code.is_ok_and(|code| none.contains(&code))) {
            return Ok(());
        }
        if !self.found_on_page {
            let arguments = borrowed(&self.arguments);
            self.repository.refuse_errors(&report, &arguments)?;
        }
        if report.verb.is_none() {
            return Err(Misbehaviour::Missing(self.verb).into());
        }
        let token = report.token.map(|token| token.value).unwrap_or_default();
        if token.is_empty() {
            return Ok(());
        }
        if !self.tokens.insert(token.clone()) {
            return Err(Misbehaviour::TokenRepeated(token).into());
        }
        self.empty_pages = match self.found_on_page {
            true => 0,
            false => self.empty_pages + 1,
        };
        if self.empty_pages == MOST_EMPTY_PAGES {
            return Err(Misbehaviour::EmptyPages(self.empty_pages).into());
        }
        self.found_on_page = false;
        self.arguments = vec![("verb", self.verb.to_owned()), ("resumptionToken", token)];
        self.page = Some(self.repository.page(&borrowed(&self.arguments)));
        Ok(())
    }
}

impl List<Header> {
    /// The next header, as `next` gives it, but only lent: its memory serves the one after it. Of millions of headers that
    /// saves a good part of the time.
    pub fn lend(&mut self) -> Option<Result<&Header, Error>> {
        if let (Some(header), Some(page)) = (self.lent.take(), &mut self.page) {
            page.reuse(header);
        }
        match self.advance() {
            Ok(Some(header)) => Some(Ok(self.lent.insert(header))),
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl<T> Iterator for List<T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

fn borrowed<'a>(arguments: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    let arguments = arguments.iter();
    arguments
        .map(|(name, value)| (*name, value.as_str()))
        .collect()
}

pub(super) fn records(found: PageItem) -> Option<Record> {
    match found {
        PageItem::Record(record) => Some(*record),
        _ => None,
    }
}

pub(super) fn headers(found: PageItem) -> Option<Header> {
    match found {
        PageItem::Header(header) => Some(header),
        _ => None,
    }
}

pub(super) fn sets(found: PageItem) -> Option<Set> {
    match found {
        PageItem::Set(set) => Some(set),
        _ => None,
    }
}

/// A list whose pages are empty for so long does not end.
const MOST_EMPTY_PAGES: u32 = 50;
