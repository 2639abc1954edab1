//! One page, asked for again where it breaks off: what was given already is not given twice.
//!
//! A page that comes compressed has a checksum at its end. Its records wait for that, as long as they are few megabytes; those of
//! a longer page are given before, and are void if the checksum does not fit.

use std::collections::VecDeque;

use oai::{Datestamp, ErrorCode};

use super::given::Given;
use super::query::Request;
use super::read_ahead::ReadAhead;
use super::{Arguments, ClientEvent, Repository};
use crate::error::{Error, ErrorKind, Incompatibility, Misbehaviour};
use crate::read::{PageItem, PageReader, Report, StaticPart};
use crate::record::Header;
use crate::{Quirk, Quirks};

/// The things on one page, one after the other.
pub(crate) struct PageStream {
    repository: Repository,
    request: Request,
    reading: Option<Box<Reading>>,
    attempts: u32,
    given: Given,
    quirks: Quirks,
    bytes: u64,
    /// Whether XML that breaks is given a second chance.
    patient: bool,
    /// The request that a static repository is read for.
    asked: Option<StaticRequest>,
    /// The things that wait for the checksum of the page.
    held: Held,
    /// The things that may be given, and then the end of the reading.
    ready: VecDeque<PageItem>,
    end: Option<Result<(), Error>>,
}

/// The things on a page that is not verified yet.
#[derive(Default)]
struct Held {
    things: VecDeque<PageItem>,
    bytes: usize,
    /// Whether some were given already, because they are too many.
    is_given: bool,
}

/// A request that a file answers.
struct StaticRequest {
    part: StaticPart,
    verb: String,
    identifier: Option<String>,
    /// Whether something was given.
    is_answered: bool,
}

struct Reading {
    reader: PageReader,
    status: u16,
    date: Option<String>,
}

impl PageStream {
    pub(super) fn new(repository: Repository, request: Request) -> Self {
        let given = Given::new(repository.client().buffers().take());
        Self {
            repository,
            request,
            reading: None,
            attempts: 0,
            given,
            quirks: Quirks::default(),
            bytes: 0,
            patient: true,
            asked: None,
            held: Held::default(),
            ready: VecDeque::new(),
            end: None,
        }
    }

    /// Reads the answer to a request from a static repository.
    pub(super) fn of_static(mut self, arguments: &Arguments<'_>) -> Self {
        let value = |name: &str| {
            let mut arguments = arguments.iter();
            let found = arguments.find(|(argument, _)| *argument == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let verb = value("verb").unwrap_or_default();
        let element = match &*verb {
            "Identify" => "Identify",
            "ListMetadataFormats" => "ListMetadataFormats",
            "ListSets" => "ListSets",
            _ => "ListRecords",
        };
        self.asked = Some(StaticRequest {
            part: StaticPart {
                element,
                metadata_prefix: value("metadataPrefix").unwrap_or_default(),
            },
            identifier: value("identifier").filter(|_| verb == "GetRecord"),
            verb,
            is_answered: false,
        });
        self
    }

    /// Takes broken XML for what it is at once, and asks for other broken bodies once more at most.
    pub(crate) fn impatient(mut self) -> Self {
        self.patient = false;
        self
    }

    /// The next thing on the page.
    pub(crate) fn next(&mut self) -> Result<Option<PageItem>, Error> {
        loop {
            while let Some(thing) = self.ready.pop_front() {
                if self.is_new(&thing) {
                    return Ok(Some(thing));
                }
            }
            match self.end.take() {
                Some(Ok(())) => {
                    self.check_status()?;
                    return Ok(None);
                }
                Some(Err(error)) => self.retry(error)?,
                None => {}
            }
            let mut reading = match self.reading.take() {
                Some(reading) => reading,
                None => self.ask()?,
            };
            let found = reading.reader.next();
            match found {
                Ok(Some(thing)) => {
                    let thing = match &mut self.asked {
                        Some(asked) => asked.take(thing),
                        None => Some(thing),
                    };
                    match thing {
                        Some(thing) if reading.reader.is_compressed() => self.hold(thing),
                        thing => self.ready.extend(thing),
                    }
                }
                Ok(None) => self.release(Ok(())),
                Err(error) => match reading.reader.verify() {
                    // The page is as the server has it.
                    Ok(()) => self.release(Err(error)),
                    Err(damage) => self.discard(damage),
                },
            }
            self.reading = Some(reading);
        }
    }

    /// Whether something was not given before. Repeated records matter only if the page is read once more.
    fn is_new(&mut self, thing: &PageItem) -> bool {
        if self.attempts == 1 {
            self.given.note(thing);
            return true;
        }
        self.given.insert(thing)
    }

    /// Holds something back until the page is verified, or gives what is held if that is too much.
    fn hold(&mut self, thing: PageItem) {
        self.held.bytes += weight(&thing);
        self.held.things.push_back(thing);
        if self.held.bytes > MOST_HELD || self.held.is_given {
            self.held.is_given = true;
            // Losses cannot be taken back.
            let (losses, things) = std::mem::take(&mut self.held.things)
                .into_iter()
                .partition(|thing| matches!(thing, PageItem::LeftOut(_)));
            self.held.things = losses;
            let things: VecDeque<_> = things;
            self.ready.extend(things);
        }
    }

    /// Gives what is held, and then the end of the reading.
    fn release(&mut self, end: Result<(), Error>) {
        self.ready
            .append(&mut std::mem::take(&mut self.held).things);
        self.end = Some(end);
    }

    /// Drops what was read of a page that came damaged.
    fn discard(&mut self, damage: Error) {
        if std::mem::take(&mut self.held).is_given {
            self.given = Given::default();
            self.ready.push_back(PageItem::Void);
        }
        self.request = self.request.clone().uncompressed();
        self.end = Some(Err(damage));
    }

    /// Takes a header back that was given: its memory serves the next one.
    pub(super) fn reuse(&mut self, header: Header) {
        if let Some(reading) = &mut self.reading {
            reading.reader.reuse(header);
        }
    }

    /// The parts of the page beside its records, and the date of the HTTP answer.
    pub(crate) fn finish(mut self) -> (Report, Option<String>) {
        let (mut report, date) = match &mut self.reading {
            Some(reading) => (std::mem::take(reading.reader.report()), reading.date.take()),
            None => (Report::default(), None),
        };
        if let Some(asked) = self.asked {
            asked.complete(&mut report, date.as_deref());
        }
        report.quirks.merge(self.quirks);
        report.bytes += self.bytes;
        (report, date)
    }

    fn ask(&mut self) -> Result<Box<Reading>, Error> {
        self.attempts += 1;
        let client = self.repository.client();
        let answer = client.fetch(
            &self.request,
            self.repository.credentials(),
            &mut self.quirks,
        )?;
        let reader = PageReader::open(
            Box::new(ReadAhead::new(answer.body, client.readers().clone())),
            answer.compressed,
            answer.charset.as_deref(),
            client.options().read,
            client.buffers().take(),
        );
        // Where it was asked to stop, that is why it broke off.
        let mut reader = reader.or_else(|error| client.check_stop().and(Err(error)))?;
        reader.spool_values(self.repository.spool());
        if let Some(asked) = &self.asked {
            reader.read_static(asked.part.clone());
        }
        Ok(Box::new(Reading {
            reader,
            status: answer.status,
            date: answer.date,
        }))
    }

    /// An error status counts, unless the repository explains itself.
    fn check_status(&mut self) -> Result<(), Error> {
        let Some(reading) = &mut self.reading else {
            return Ok(());
        };
        let status = reading.status;
        if (200..300).contains(&status) {
            return Ok(());
        }
        let report = reading.reader.report();
        let (is_error, is_answer) = (!report.errors.is_empty(), report.verb.is_some());
        if is_answer {
            self.quirks.add(Quirk::AnswerWithHttpStatus);
        } else if is_error {
            self.quirks.add(Quirk::ErrorWithHttpStatus);
        } else {
            return Err(self.http_status(status));
        }
        Ok(())
    }

    fn http_status(&self, status: u16) -> Error {
        let error = match super::TRY_LATER.contains(&status) {
            true => Error::transport(format!("the server answers {status}")),
            false => Incompatibility::HttpStatus(status).into(),
        };
        error.at(&self.request.shown())
    }

    /// Prepares for reading the page once more, or gives the error back.
    fn retry(&mut self, error: Error) -> Result<(), Error> {
        let client = self.repository.client().clone();
        client.check_stop()?;
        let error = error.at(&self.request.shown());
        let Some(mut reading) = self.reading.take() else {
            return Err(error);
        };
        if !(200..300).contains(&reading.status) && !super::TRY_LATER.contains(&reading.status) {
            return Err(self.http_status(reading.status));
        }
        let report = std::mem::take(reading.reader.report());
        self.quirks.merge(report.quirks);
        self.bytes += report.bytes;
        drop(reading);
        let options = client.options();
        options.listener.tell(|| ClientEvent::Refused {
            reason: error.kind().to_string(),
        });
        let usual = options.attempts.min(if self.patient { 3 } else { 2 });
        let most = match error.kind() {
            ErrorKind::Transport(_) => usual,
            ErrorKind::RepositoryMisbehaved(
                Misbehaviour::WebPage | Misbehaviour::NotXml(_) | Misbehaviour::Truncated { .. },
            ) => usual,
            ErrorKind::RepositoryMisbehaved(Misbehaviour::Broken { .. }) if self.patient => {
                options.attempts.min(2)
            }
            _ => 1,
        };
        if self.attempts >= most {
            return Err(error);
        }
        self.quirks.add(Quirk::PageRepeated);
        client.wait(options.first_wait * self.attempts)
    }
}

/// About how much memory something takes.
fn weight(thing: &PageItem) -> usize {
    match thing {
        PageItem::Record(record) => record.xml.len() + record.values.len() * VALUE + ITEM,
        PageItem::LeftOut(left_out) => left_out.reason.len() + ITEM,
        _ => ITEM,
    }
}

impl StaticRequest {
    /// The thing as the verb would give it. `None` if it was not asked for.
    fn take(&mut self, thing: PageItem) -> Option<PageItem> {
        let thing = match thing {
            PageItem::Record(record) => {
                let identifier = self.identifier.as_ref();
                if identifier.is_some_and(|wanted| *wanted != record.header.identifier) {
                    return None;
                }
                match &*self.verb {
                    "ListIdentifiers" => PageItem::Header(record.header),
                    _ => PageItem::Record(record),
                }
            }
            PageItem::LeftOut(left_out) => {
                if self.identifier.is_some() && self.identifier != left_out.identifier {
                    return None;
                }
                PageItem::LeftOut(left_out)
            }
            other => other,
        };
        self.is_answered = true;
        Some(thing)
    }

    /// Says what the protocol would say beside the things.
    fn complete(&self, report: &mut Report, date: Option<&str>) {
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let since = date.and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok());
        let seconds = since.and_then(|since| i64::try_from(since.as_secs()).ok());
        report.response_date = seconds.map(|date| Datestamp::from_seconds(date).to_string());
        let code = match (&*self.verb, report.verb.is_some()) {
            ("ListSets", _) => ErrorCode::NoSetHierarchy,
            ("GetRecord", true) if !self.is_answered => ErrorCode::IdDoesNotExist,
            ("ListRecords" | "ListIdentifiers" | "GetRecord", false) => {
                ErrorCode::CannotDisseminateFormat
            }
            ("ListRecords" | "ListIdentifiers", true) if !self.is_answered => {
                ErrorCode::NoRecordsMatch
            }
            _ => {
                report.verb = report.verb.take().map(|_| self.verb.clone());
                return;
            }
        };
        let message = "the static repository has no such thing";
        report.errors.push((code.to_string(), message.to_owned()));
    }
}

/// How much of a page waits for its checksum, in bytes.
const MOST_HELD: usize = 4 << 20;
/// The weight of a value with a file of its own, and of anything.
const VALUE: usize = 64 << 10;
const ITEM: usize = 256;
