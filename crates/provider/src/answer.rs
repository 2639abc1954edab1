//! One request in, one answer out: the six verbs over a view.

use std::io::Write;
use std::time::Instant;

use oai::{
    Arguments, Datestamp, ErrorCode, Identify, ListRequest, ListVerb, MetadataPrefix, Position,
    RecordHeader, Request, Response, ResumptionToken, Selection, TokenElement, TokenKey, Verb,
};

use crate::limits::{Page, unlimited};
use crate::view::{Listed, Obtained, Portion, Range, View};
use crate::{Error, PageLimits, assets};

/// What the answers of one repository have in common.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Where the repository answers.
    pub base_url: String,
    /// Its name for people.
    pub repository_name: String,
    /// Whom to write to.
    pub admin_emails: Vec<String>,
    /// Content codings the server offers besides identity.
    pub compressions: Vec<String>,
    /// How long pages may get.
    pub limits: PageLimits,
    /// The secret of its tokens.
    pub token_key: TokenKey,
}

/// What was answered, for the log and the counters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The verb, if it was one of the six.
    pub verb: Option<Verb>,
    /// Records or headers given.
    pub records: u64,
    /// The code of the first error, if the answer was one.
    pub error: Option<ErrorCode>,
}

/// A failure on the way to an answer: one to be told in XML, or one that prevents it.
enum Failure {
    Protocol(Vec<oai::Error>),
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Other(error.into())
    }
}

impl From<oai::Error> for Failure {
    fn from(error: oai::Error) -> Self {
        Self::Protocol(vec![error])
    }
}

/// Whether a request may take long to answer: lists, sets that are asked for type by type, and records that may be long.
pub fn takes_long(arguments: &Arguments) -> bool {
    Verb::of(arguments).is_ok_and(|verb| match verb {
        Verb::ListIdentifiers | Verb::ListRecords | Verb::ListSets | Verb::GetRecord => true,
        Verb::Identify | Verb::ListMetadataFormats => false,
    })
}

/// Whether a request goes on with a list that began earlier. Such a list ends where it was to end when it began: what
/// changed since is not in it.
pub fn goes_on(arguments: &Arguments) -> bool {
    arguments.get("resumptionToken").is_some()
}

impl Provider {
    /// Answers one request from a view.
    ///
    /// Nothing is written before it is clear whether the answer is an error of the protocol. A failure
    /// after that leaves the output incomplete: the caller must break the connection, not end it.
    pub fn answer<V: View, W: Write>(
        &self,
        view: &V,
        arguments: &Arguments,
        mut out: W,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome {
            verb: Verb::of(arguments).ok(),
            ..Outcome::default()
        };
        let answer = Answer {
            provider: self,
            view,
            arguments,
        };
        match answer.write(&mut out) {
            Ok(records) => outcome.records = records,
            Err(Failure::Other(error)) => return Err(error),
            Err(Failure::Protocol(errors)) => {
                outcome.error = errors.first().map(|error| error.code);
                let style_sheet = assets::path(&self.base_url, assets::STYLE_SHEET);
                Response::errors(
                    out,
                    Some(&style_sheet),
                    view.response_date(),
                    &self.base_url,
                    arguments,
                    &errors,
                )?;
            }
        }
        Ok(outcome)
    }
}

/// One answer in the making. Every method that can fail with an error of the protocol does so before
/// it writes.
struct Answer<'a, V> {
    provider: &'a Provider,
    view: &'a V,
    arguments: &'a Arguments,
}

impl<V: View> Answer<'_, V> {
    fn write<W: Write>(&self, out: W) -> Result<u64, Failure> {
        let request = Request::parse(self.arguments).map_err(Failure::Protocol)?;
        match request {
            Request::Identify => self.identify(out),
            Request::ListMetadataFormats { identifier } => {
                self.list_metadata_formats(out, identifier)
            }
            Request::ListSets { resumption_token } => self.list_sets(out, resumption_token),
            Request::GetRecord {
                identifier,
                metadata_prefix,
            } => self.get_record(out, &identifier, &metadata_prefix),
            Request::ListIdentifiers(list) => self.list(out, ListVerb::ListIdentifiers, list),
            Request::ListRecords(list) => self.list(out, ListVerb::ListRecords, list),
        }
    }

    fn identify<W: Write>(&self, out: W) -> Result<u64, Failure> {
        let identify = Identify {
            repository_name: self.provider.repository_name.clone(),
            base_url: self.provider.base_url.clone(),
            admin_emails: self.provider.admin_emails.clone(),
            earliest_datestamp: self.view.earliest_datestamp()?,
            compressions: self.provider.compressions.clone(),
        };
        let mut response = self.begin(out, Verb::Identify)?;
        response.identify(&identify)?;
        end(response, Verb::Identify, 0)
    }

    fn list_metadata_formats<W: Write>(
        &self,
        out: W,
        identifier: Option<String>,
    ) -> Result<u64, Failure> {
        let mut formats = self.view.metadata_formats();
        if let Some(identifier) = &identifier {
            let item = self.item(identifier)?;
            formats.retain(|format| self.view.has_format(&item, &format.prefix));
        }
        if formats.is_empty() {
            return Err(oai::Error::new(
                ErrorCode::NoMetadataFormats,
                "there are no formats for this item",
            )
            .into());
        }
        let mut response = self.begin(out, Verb::ListMetadataFormats)?;
        for format in &formats {
            response.metadata_format(format)?;
        }
        end(response, Verb::ListMetadataFormats, 0)
    }

    fn list_sets<W: Write>(
        &self,
        out: W,
        resumption_token: Option<String>,
    ) -> Result<u64, Failure> {
        if resumption_token.is_some() {
            let message = "ListSets answers in one page here and gives no tokens";
            return Err(oai::Error::new(ErrorCode::BadResumptionToken, message).into());
        }
        let sets = self.view.sets()?;
        if sets.is_empty() {
            let message = "this repository has no sets";
            return Err(oai::Error::new(ErrorCode::NoSetHierarchy, message).into());
        }
        let mut response = self.begin(out, Verb::ListSets)?;
        for set in &sets {
            response.set(set)?;
        }
        end(response, Verb::ListSets, 0)
    }

    fn get_record<W: Write>(
        &self,
        out: W,
        identifier: &str,
        prefix: &MetadataPrefix,
    ) -> Result<u64, Failure> {
        let item = self.item(identifier)?;
        self.check_format(prefix)?;
        if !self.view.has_format(&item, prefix.as_str()) {
            let message = format!("this item has no record in `{prefix}`");
            return Err(oai::Error::new(ErrorCode::CannotDisseminateFormat, message).into());
        }
        if !item.header().deleted {
            match self.view.obtain(&item, prefix.as_str())? {
                Obtained::Ready => {}
                Obtained::Gone => return Err(no_item(identifier).into()),
                Obtained::Busy => return Err(busy().into()),
            }
        }
        let mut response = self.begin(out, Verb::GetRecord)?;
        response.record(item.header(), |xml| {
            self.view.write_metadata(&item, prefix.as_str(), xml)
        })?;
        end(response, Verb::GetRecord, 1)
    }

    fn list<W: Write>(
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
            // All that was left has changed while the list was read. A page cannot be empty, so it goes
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
                let coming = items.helping.as_slice();
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
            ListVerb::ListRecords => response.record(item.header(), |xml| {
                self.view.write_metadata(item, prefix, xml)
            }),
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

    /// What to say where there is nothing: a set cannot be empty in a repository that has none.
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

    /// An item that exists, else the error for one that does not.
    fn item(&self, identifier: &str) -> Result<V::Item, Failure> {
        let item = self.view.item(identifier)?;
        item.ok_or_else(|| no_item(identifier).into())
    }

    fn check_format(&self, prefix: &MetadataPrefix) -> Result<(), Failure> {
        let formats = self.view.metadata_formats();
        if formats
            .iter()
            .any(|format| format.prefix == prefix.as_str())
        {
            return Ok(());
        }
        let offered: Vec<_> = formats
            .iter()
            .map(|format| format.prefix.as_str())
            .collect();
        let message = format!(
            "unknown metadata prefix `{prefix}`; this repository offers {}",
            offered.join(", ")
        );
        Err(oai::Error::new(ErrorCode::CannotDisseminateFormat, message).into())
    }

    fn begin<W: Write>(&self, out: W, verb: Verb) -> Result<Response<W>, Failure> {
        let style_sheet = assets::path(&self.provider.base_url, assets::STYLE_SHEET);
        let mut response = Response::begin(
            out,
            Some(&style_sheet),
            self.view.response_date(),
            &self.provider.base_url,
            self.arguments,
        )?;
        response.begin_verb(verb)?;
        Ok(response)
    }

    fn items(&self, start: &Start, list_verb: ListVerb) -> Items<'_, V> {
        Items {
            view: self.view,
            range: start.range.clone(),
            metadata_prefix: start.selection.metadata_prefix.clone(),
            list_verb,
            after: start.position,
            helping: Vec::new().into_iter(),
            helping_size: FIRST_HELPING,
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
    /// What to say if there is nothing.
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

/// The items of a range, fetched helping by helping.
struct Items<'a, V: View> {
    view: &'a V,
    range: Range,
    metadata_prefix: MetadataPrefix,
    list_verb: ListVerb,
    after: Option<Position>,
    helping: std::vec::IntoIter<V::Item>,
    helping_size: usize,
    exhausted: bool,
    lookups: u64,
    /// Lookups made before the helping at hand was asked for. What that helping brought costs nothing more, so
    /// it is given even if the limit was reached by it.
    lookups_before: u64,
    /// When the helping at hand was asked for.
    asked_at: Instant,
    most_lookups: u64,
}

impl<V: View> Items<'_, V> {
    /// The next item, looked for as one on this page.
    fn next(&mut self, page: &Page) -> Result<Option<V::Item>, Error> {
        loop {
            let prefix = self.metadata_prefix.as_str();
            let has_format = |item: &V::Item| self.view.has_format(item, prefix);
            if let Some(item) = self.helping.find(has_format) {
                return Ok(Some(item));
            }
            if self.exhausted || self.range.from > self.range.until {
                return Ok(None);
            }
            self.fetch(page)?;
        }
    }

    fn fetch(&mut self, page: &Page) -> Result<(), Error> {
        let portion = Portion {
            at_most: self.next_size(),
            metadata_prefix: match self.list_verb {
                ListVerb::ListIdentifiers => None,
                ListVerb::ListRecords => Some(self.metadata_prefix.as_str()),
            },
            bytes: page.bytes_left,
        };
        self.asked_at = Instant::now();
        let helping = self.view.list(&self.range, self.after, portion)?;
        self.helping_size = (self.helping_size * 2).min(LARGEST_HELPING);
        self.lookups_before = self.lookups;
        self.lookups += helping.lookups;
        self.exhausted = helping.exhausted || helping.behind.is_none();
        self.after = helping.behind.or(self.after);
        self.helping = helping.items.into_iter();
        Ok(())
    }

    /// No more than may still be looked up; where that is nothing, the next visible item is looked for in small
    /// steps, for a page is never empty and must know whether the list goes on.
    fn next_size(&self) -> usize {
        match usize::try_from(self.most_lookups.saturating_sub(self.lookups)) {
            Ok(0) => SMALL_STEP,
            Ok(left) => self.helping_size.min(left),
            Err(_) => self.helping_size,
        }
    }

    /// Moves the end of the range.
    fn go_on_until(&mut self, until: Datestamp) {
        self.range.until = until;
        self.exhausted = false;
    }
}

fn no_item(identifier: &str) -> oai::Error {
    let message = format!("there is no item `{identifier}` here");
    oai::Error::new(ErrorCode::IdDoesNotExist, message)
}

fn busy() -> Error {
    let message = "as many programs as may run for harvesters at once are running";
    Error::Unavailable(message.to_owned())
}

fn range(selection: &Selection, until: Datestamp) -> Range {
    Range {
        set: selection.set.clone(),
        from: selection.from.unwrap_or(Datestamp::MIN),
        until,
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

fn end<W: Write>(mut response: Response<W>, verb: Verb, records: u64) -> Result<u64, Failure> {
    response.end_verb(verb)?;
    response.finish()?;
    Ok(records)
}

/// Items are fetched in helpings, small ones first, so that a page cut by bytes does not read far ahead.
const FIRST_HELPING: usize = 32;
const SMALL_STEP: usize = 8;
const LARGEST_HELPING: usize = 512;
