//! ListIdentifiers and ListRecords: one page of a list, and the token for the next.

use std::io::Write;
use std::time::Instant;

use oai::{
    Datestamp, ErrorCode, ListRequest, ListVerb, Position, RecordHeader, Response, ResumptionToken,
    Selection, TokenElement, Verb,
};

use super::items::{FIRST_BATCH, Items};
use crate::Error;
use crate::answer::{Answer, Failure, busy, end};
use crate::limits::{Page, unlimited};
use crate::view::{Listed, Obtained, Range, View};

impl<V: View> Answer<'_, V> {
    pub(crate) fn list<W: Write>(
        &self,
        out: W,
        list_verb: ListVerb,
        list: ListRequest,
    ) -> Result<u64, Failure> {
        let began = Instant::now();
        let (verb, entries) = match list_verb {
            ListVerb::ListIdentifiers => (Verb::ListIdentifiers, self.provider.limits.identifiers),
            ListVerb::ListRecords => (Verb::ListRecords, self.provider.limits.records),
        };
        let mut start = match list {
            ListRequest::First(selection) => self.first_page(selection)?,
            ListRequest::Resumed(token) => self.resumed_page(&token, list_verb)?,
        };
        let mut items = self.items(&start, list_verb);
        let mut page = Page::new(&self.provider.limits, entries, began);
        let mut next = items.next(&page)?;
        if next.is_none() && start.position.is_some() {
            // The rest has changed while the list was read. A page cannot be empty, so it goes
            // on with what changed: the harvester sees that a little early, and loses nothing. What is
            // behind its own `until` it did not ask for and may not expect.
            start.go_on_until(self.view.response_date());
            items.go_on_until(start.range.until);
            next = items.next(&page)?;
        }
        if next.is_none() {
            return Err(self.nothing(start)?);
        }

        let prefix = start.selection.metadata_prefix.as_str();
        let mut response = self.begin(out, verb)?;
        let mut last = None;
        while let Some(item) = next.take() {
            let size = self.entry_size(&item, list_verb, prefix);
            let moment = match list_verb {
                // An identifier that was looked up takes no more time.
                ListVerb::ListIdentifiers => items.asked_at,
                ListVerb::ListRecords => Instant::now(),
            };
            let runs_program = list_verb == ListVerb::ListRecords
                && !item.header().deleted
                && self.view.runs_program(&item, prefix);
            if !page.admit(size, moment, items.lookups_before, runs_program) {
                next = Some(item);
                break;
            }
            let mut obtained = Obtained::Ready;
            if list_verb == ListVerb::ListRecords {
                let coming = items.batch.as_slice();
                self.view.prepare(&item, coming, prefix, page.bytes_left);
                if !item.header().deleted {
                    obtained = self.view.obtain(&item, prefix)?;
                }
            }
            match obtained {
                Obtained::Ready => self.write_entry(&mut response, &item, list_verb, prefix)?,
                // The page has counted it and must not be empty. A harvester that has an earlier version removes it.
                Obtained::Gone => {
                    let header = RecordHeader {
                        deleted: true,
                        ..item.header().clone()
                    };
                    response.record(&header, |_| Ok::<_, Error>(()))?;
                }
                Obtained::Busy if page.entries == 1 => return Err(busy().into()),
                Obtained::Busy => {
                    page.entries -= 1;
                    next = Some(item);
                    break;
                }
            }
            last = Some(item.position());
            next = items.next(&page)?;
        }

        let behind = last.filter(|_| next.is_some());
        if let Some(element) = self.token_element(&start, list_verb, behind, page.entries) {
            response.resumption_token(&element)?;
        }
        end(response, verb, page.entries)
    }

    /// About how many bytes an entry takes on a page.
    fn entry_size(&self, item: &V::Item, list_verb: ListVerb, prefix: &str) -> u64 {
        let header_size = header_size(item);
        match list_verb {
            ListVerb::ListIdentifiers => header_size,
            ListVerb::ListRecords if item.header().deleted => header_size + 20,
            ListVerb::ListRecords => header_size + 50 + self.view.metadata_size(item, prefix),
        }
    }

    fn write_entry<W: Write>(
        &self,
        response: &mut Response<W>,
        item: &V::Item,
        list_verb: ListVerb,
        prefix: &str,
    ) -> Result<(), Error> {
        match list_verb {
            ListVerb::ListIdentifiers => Ok(response.header(item.header())?),
            ListVerb::ListRecords => {
                response.record(item.header(), |xml| self.view.write_body(item, prefix, xml))
            }
        }
    }

    /// The end of a page: a token if the list goes on behind a position, an empty one where a list of several
    /// pages ends, none where one page was enough (OAI-PMH 2.0, 3.5).
    fn token_element(
        &self,
        start: &Start,
        verb: ListVerb,
        behind: Option<Position>,
        entries: u64,
    ) -> Option<TokenElement> {
        let token = match behind {
            None if start.cursor == 0 => return None,
            None => String::new(),
            Some(position) => {
                let token = ResumptionToken {
                    verb,
                    selection: start.selection.clone(),
                    requested_until: start.requested_until,
                    position,
                    cursor: start.cursor + entries,
                    complete_list_size: start.complete_list_size,
                };
                token.encode(&self.provider.token_key)
            }
        };
        Some(TokenElement {
            token,
            cursor: start.cursor,
            complete_list_size: start.complete_list_size,
        })
    }

    /// The error where there is nothing: a set cannot be empty in a repository that has none.
    fn nothing(&self, start: Start) -> Result<Failure, Failure> {
        if start.position.is_none() && start.selection.set.is_some() && self.view.sets()?.is_empty()
        {
            let message = "this repository has no sets";
            return Ok(oai::Error::new(ErrorCode::NoSetHierarchy, message).into());
        }
        Ok(start.nothing_left.into())
    }

    fn first_page(&self, mut selection: Selection) -> Result<Start, Failure> {
        self.check_format(&selection.metadata_prefix)?;
        // Fixed now, so that the list does not grow while it is read. OAI-PMH 2.0, 3.5.
        let now = self.view.response_date();
        let until = selection.until.map_or(now, |until| until.min(now));
        let range = range(&selection, until);
        let prefix = selection.metadata_prefix.as_str();
        let complete_list_size = self.view.count(&range, prefix)?;
        let requested_until = selection.until.replace(until);
        Ok(Start {
            range,
            selection,
            requested_until,
            position: None,
            cursor: 0,
            complete_list_size,
            nothing_left: oai::Error::new(
                ErrorCode::NoRecordsMatch,
                "no records match this combination of from, until, set and metadataPrefix",
            ),
        })
    }

    fn resumed_page(&self, token: &str, verb: ListVerb) -> Result<Start, Failure> {
        let bad = |message: &str| oai::Error::new(ErrorCode::BadResumptionToken, message);
        let token = ResumptionToken::decode(token, &self.provider.token_key).ok_or_else(|| {
            bad("this is not a token of this repository, or it is damaged; begin the list again")
        })?;
        if token.verb != verb {
            return Err(bad("this token belongs to the other list verb").into());
        }
        self.check_format(&token.selection.metadata_prefix)
            .map_err(|_| {
                bad("the format of this list is no longer offered; begin the list again")
            })?;
        let until = token.selection.until.unwrap_or(self.view.response_date());
        Ok(Start {
            range: range(&token.selection, until),
            selection: token.selection,
            requested_until: token.requested_until,
            position: Some(token.position),
            cursor: token.cursor,
            complete_list_size: token.complete_list_size,
            nothing_left: bad(
                "all that was left of this list has changed since; begin again with from",
            ),
        })
    }

    fn items(&self, start: &Start, list_verb: ListVerb) -> Items<'_, V> {
        Items {
            view: self.view,
            range: start.range.clone(),
            metadata_prefix: start.selection.metadata_prefix.clone(),
            list_verb,
            after: start.position,
            batch: Vec::new().into_iter(),
            batch_size: FIRST_BATCH,
            exhausted: false,
            lookups: 0,
            lookups_before: 0,
            asked_at: Instant::now(),
            most_lookups: unlimited(self.provider.limits.lookups),
        }
    }
}

/// Where a page begins.
struct Start {
    range: Range,
    selection: Selection,
    /// The requester's own `until`.
    requested_until: Option<Datestamp>,
    position: Option<Position>,
    cursor: u64,
    complete_list_size: Option<u64>,
    /// The error if there is nothing.
    nothing_left: oai::Error,
}

impl Start {
    /// Moves the end of the list to now, but not beyond what the requester asked for.
    fn go_on_until(&mut self, now: Datestamp) {
        let until = self.requested_until.map_or(now, |until| until.min(now));
        self.range.until = until;
        self.selection.until = Some(until);
    }
}

fn range(selection: &Selection, until: Datestamp) -> Range {
    Range {
        set: selection.set.clone(),
        from: selection.from.unwrap_or(Datestamp::MIN),
        until,
        metadata_prefix: selection.metadata_prefix.to_string(),
    }
}

fn header_size<I: Listed>(item: &I) -> u64 {
    let header = item.header();
    let sets: usize = header
        .set_specs
        .iter()
        .map(|set| set.as_str().len() + 19)
        .sum();
    (header.identifier.len() + sets + 90) as u64
}
