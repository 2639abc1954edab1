//! Makes the answers.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Mutex;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::records::{bytes, header, record, seconds_of, written};
use super::script::{BEGINNING, NOW};
use super::{Counter, Fault, Script};

/// An answer as it goes over the wire.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) sending: Sending,
}

/// How the body is sent.
pub(super) enum Sending {
    Whole,
    /// Byte by byte, with a pause in milliseconds.
    Drip(u64),
    /// Half of it, then a reset.
    Reset,
    /// With so many bytes more in its middle.
    Endless(u64),
}

/// The state of a running repository.
#[derive(Debug)]
pub(super) struct Play {
    pub(super) script: Mutex<Script>,
    pub(super) requests: Mutex<Vec<String>>,
    pub(super) heads: Mutex<Vec<String>>,
    pub(super) connections: Mutex<usize>,
    base_url: String,
    counter: Counter,
    /// Where the list stands, for the one token that never changes.
    place: Mutex<usize>,
    /// How many of the oldest records have vanished.
    vanished: Mutex<usize>,
}

/// A request for a page of a list.
#[derive(Clone, Default)]
struct Selection {
    from: Option<i64>,
    until: Option<i64>,
    set: Option<String>,
    offset: usize,
    /// Which page of the list, whatever is on it.
    page: usize,
}

impl Play {
    pub(super) fn new(script: Script, base_url: String) -> Self {
        Self {
            script: Mutex::new(script),
            requests: Mutex::default(),
            heads: Mutex::default(),
            connections: Mutex::default(),
            base_url,
            counter: Counter::default(),
            place: Mutex::default(),
            vanished: Mutex::default(),
        }
    }

    /// Answers a request; the form is what a POST brings.
    pub(super) fn answer(&self, target: &str, form: &str) -> Answer {
        let script = self.script.lock().unwrap().clone();
        let query = match form {
            "" => target.split_once('?').map_or("", |(_, query)| query),
            form => form,
        };
        self.requests.lock().unwrap().push(decoded(query));
        let arguments: HashMap<String, String> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (decoded(name), decoded(value)))
            .collect();
        for fault in &script.faults {
            match fault {
                Fault::RedirectTo(url) => return redirect(format!("{url}?{query}")),
                Fault::RedirectLoop => return redirect(target.to_owned()),
                Fault::LongUrlsRefused(length) if target.len() > *length => {
                    return plain(414, "too long");
                }
                Fault::PostRefused if !form.is_empty() => return plain(405, "no POST"),
                _ => {}
            }
        }
        let verb = arguments.get("verb").map_or("", String::as_str);
        for fault in &script.faults {
            match fault {
                Fault::VerbStatus(of, status) if *of == verb => return plain(*status, "failed"),
                Fault::VerbWebPage(of) if *of == verb => {
                    return plain(200, "<!DOCTYPE html><html><body>Hello</body></html>");
                }
                _ => {}
            }
        }
        match verb {
            "Identify" => self.wrap(&script, &identify(&script, &self.base_url), 200),
            "ListMetadataFormats" => self.wrap(&script, FORMATS, 200),
            "ListSets" if script.has(&Fault::NoSets) => {
                self.error(&script, "noSetHierarchy", "no sets")
            }
            "ListSets" => self.wrap(&script, SETS, 200),
            "GetRecord" => self.get_record(&script, &arguments),
            "ListRecords" if script.has(&Fault::RecordsBroken) => {
                let mut answer = self.list(&script, verb, &arguments);
                // An error is given whole.
                if answer.body.windows(8).any(|part| part == b"<record>") {
                    answer.body.truncate(answer.body.len() / 2);
                }
                answer
            }
            "ListRecords" | "ListIdentifiers" => self.list(&script, verb, &arguments),
            _ => self.error(&script, "badVerb", "no such verb"),
        }
    }

    fn get_record(&self, script: &Script, arguments: &HashMap<String, String>) -> Answer {
        let identifier = arguments.get("identifier").map_or("", String::as_str);
        let number = (0..script.records).find(|n| Script::identifier(*n) == identifier);
        match number {
            Some(number) if script.breaks(number, "GetRecord") => plain(500, "failed"),
            Some(number) if !script.has(&Fault::NotGiven(number)) => {
                let given = number + usize::from(script.has(&Fault::OtherGiven(number)));
                let record = record(script, given);
                self.wrap(script, &format!("<GetRecord>{record}</GetRecord>"), 200)
            }
            _ => self.error(script, "idDoesNotExist", "no such record"),
        }
    }

    fn list(&self, script: &Script, verb: &str, arguments: &HashMap<String, String>) -> Answer {
        let selection = match arguments.get("resumptionToken") {
            Some(token) => match self.resumed(script, token) {
                Some(selection) => selection,
                None => return self.error(script, "badResumptionToken", "unknown token"),
            },
            None => {
                *self.place.lock().unwrap() = 0;
                if arguments.get("metadataPrefix").map(String::as_str) != Some("oai_dc") {
                    return self.error(script, "cannotDisseminateFormat", "oai_dc only");
                }
                let bounds = [arguments.get("from"), arguments.get("until")];
                let seconds = bounds.iter().flatten().any(|bound| bound.contains('T'));
                if seconds && (script.days || script.has(&Fault::SecondsRefused)) {
                    return self.error(script, "badArgument", "days only");
                }
                let from = arguments.get("from").map(|from| seconds_of(from, false));
                if script.has(&Fault::EarlierRefused)
                    && from.is_some_and(|from| from < earliest(script))
                {
                    return self.error(script, "badArgument", "before the earliestDatestamp");
                }
                if script.has(&Fault::FromRefused) && from.is_some() {
                    return self.error(script, "badArgument", "no from here");
                }
                let until = arguments.get("until").map(|until| {
                    let begin = seconds_of(until, false);
                    match script.has(&Fault::UntilExclusive) {
                        true => begin - 1,
                        false if script.has(&Fault::UntilMidnight) => {
                            begin.div_euclid(86_400) * 86_400
                        }
                        false => seconds_of(until, true),
                    }
                });
                Selection {
                    from,
                    until,
                    set: arguments.get("set").cloned(),
                    ..Selection::default()
                }
            }
        };
        self.page(script, verb, &selection)
    }

    fn page(&self, script: &Script, verb: &str, selection: &Selection) -> Answer {
        if let Some(answer) = self.instead(script, selection.page) {
            return answer;
        }
        for fault in &script.faults {
            let mut vanished = self.vanished.lock().unwrap();
            match fault {
                Fault::Vanish { page, records } if *page == selection.page => {
                    *vanished = (*vanished).max(*records);
                }
                Fault::VanishEachTime { page, records } if *page == selection.page => {
                    *vanished += records;
                }
                _ => {}
            }
        }
        let script = &self.moved(script, selection.page);
        let all = self.selected(script, selection);
        if script.has(&Fault::EndlessEmptyPages) && selection.page > 0 {
            let token = self.token(script, selection, 0);
            return self.wrap(script, &format!("<{verb}>{token}</{verb}>"), 200);
        }
        if selection.offset >= all.len() || script.has(&Fault::NothingLeft(selection.page)) {
            return self.error(script, "noRecordsMatch", "nothing");
        }
        let mut start = selection.offset;
        if script.has(&Fault::OverlappingPages) && start >= 2 {
            start -= 2;
        }
        let end = (selection.offset + script.page).min(all.len());
        if all[start..end]
            .iter()
            .any(|number| script.breaks(*number, verb))
        {
            return plain(500, "failed");
        }
        let mut body = format!("<{verb}>");
        if script.has(&Fault::ErrorBesideList) {
            body.insert_str(0, "<error code=\"badArgument\">deprecated</error>");
        }
        if !script.has(&Fault::EmptyPage(selection.page)) {
            for number in &all[start..end] {
                match verb {
                    "ListRecords" => body.push_str(&record(script, *number)),
                    _ => body.push_str(&header(script, *number)),
                }
            }
        }
        let more = end < all.len() || script.has(&Fault::TokenOnLastPage);
        for fault in &script.faults {
            if let Fault::OlderVersion(number) = fault
                && !more
            {
                let now = written(script.moment(*number), script.days);
                let before = written(BEGINNING, script.days);
                let record = record(script, *number).replace(&now, &before);
                body.push_str(&record.replace("caf\u{e9}", "old"));
            }
        }
        if script.has(&Fault::EndsEarly(selection.page)) {
            body.push_str("<resumptionToken/>");
        } else if more {
            body.push_str(&self.token(script, selection, end));
        } else if script.has(&Fault::RestartingList) {
            body.push_str(&self.token(script, selection, 0));
        } else if selection.page > 0 {
            let size = complete_list_size(script, all.len(), selection.offset);
            let _ = write!(body, "<resumptionToken{size}/>");
        }
        let _ = write!(body, "</{verb}>");
        let status = script.faults.iter().find_map(|fault| match fault {
            Fault::ListsWithStatus(status) => Some(*status),
            _ => None,
        });
        let answer = self.wrap(script, &body, status.unwrap_or(200));
        self.sent(script, selection.page, answer)
    }

    /// The script after the records have moved that move before a page is sent.
    fn moved(&self, script: &Script, page: usize) -> Script {
        let mut script = script.clone();
        let (mut most, mut before) = (0, 0);
        for fault in &script.faults {
            match fault {
                Fault::Move { page: of, records } if *of == page => most = *records,
                Fault::MoveEachTime { page: of, records } if *of == page => most += records,
                Fault::Moved(records) => before = *records,
                _ => {}
            }
        }
        if script
            .faults
            .iter()
            .any(|fault| matches!(fault, Fault::MoveEachTime { .. }))
            && most > 0
        {
            most += before;
        }
        if most > before {
            script.faults.retain(|fault| *fault != Fault::Moved(before));
            script.faults.push(Fault::Moved(most));
            self.script.lock().unwrap().clone_from(&script);
        }
        script
    }

    /// The records of a list that have not vanished.
    fn selected(&self, script: &Script, selection: &Selection) -> Vec<usize> {
        let vanished = *self.vanished.lock().unwrap();
        let mut all = selected(script, selection);
        all.retain(|number| *number >= vanished);
        all
    }

    /// The answer in place of a page.
    fn instead(&self, script: &Script, page: usize) -> Option<Answer> {
        for fault in &script.faults {
            let happens = |of: &usize, times: &u32| {
                *of == page && self.counter.spend(format!("{fault:?}"), *times)
            };
            match fault {
                Fault::WebPage { page, times } if happens(page, times) => {
                    return Some(plain(200, "<!DOCTYPE html><html><body>Oops</body></html>"));
                }
                Fault::Status {
                    page,
                    status,
                    retry_after,
                    times,
                } if happens(page, times) => {
                    let mut answer = plain(*status, "later");
                    let retry_after = retry_after.clone();
                    answer
                        .headers
                        .extend(retry_after.map(|value| ("Retry-After".to_owned(), value)));
                    return Some(answer);
                }
                Fault::UnknownError { page, times } if happens(page, times) => {
                    return Some(self.error(script, "internalServerError", "oops"));
                }
                Fault::ExpiredToken { page, times } if happens(page, times) => {
                    return Some(self.error(script, "badResumptionToken", "expired"));
                }
                _ => {}
            }
        }
        None
    }

    /// How a page is sent.
    fn sent(&self, script: &Script, page: usize, mut answer: Answer) -> Answer {
        for fault in &script.faults {
            let happens = |of: &usize, times: &u32| {
                *of == page && self.counter.spend(format!("{fault:?}"), *times)
            };
            match fault {
                Fault::Truncated { page, times } if happens(page, times) => {
                    let middle = answer.body.len() * 2 / 3;
                    answer.body.truncate(middle);
                }
                Fault::DamagedGzip { page, times } if happens(page, times) => {
                    damage(&mut answer);
                }
                Fault::Reset { page, times } if happens(page, times) => {
                    answer.sending = Sending::Reset;
                }
                Fault::Slow { page: of, pause } if *of == page => {
                    std::thread::sleep(std::time::Duration::from_millis(*pause));
                }
                Fault::Drip { page: of, pause } if *of == page => {
                    answer.sending = Sending::Drip(*pause);
                }
                Fault::HugeAnswer(length) => answer.sending = Sending::Endless(*length),
                _ => {}
            }
        }
        answer
    }

    fn token(&self, script: &Script, selection: &Selection, offset: usize) -> String {
        let all = self.selected(script, selection).len();
        let mut next = selection.clone();
        next.offset = offset;
        next.page += 1;
        if script.has(&Fault::SameTokenForEver) && selection.page > 0 {
            next = selection.clone();
        }
        if script.has(&Fault::TokenCircle) && selection.page == 2 {
            next.offset = script.page;
            next.page = 1;
        }
        let number = |bound: Option<i64>| bound.map_or(String::new(), |b| b.to_string());
        let mut token = format!(
            "{}!{}!{}!{}!{}",
            next.offset,
            next.page,
            number(next.from),
            number(next.until),
            next.set.unwrap_or_default()
        );
        if script.has(&Fault::OddTokens) {
            token.push_str("!/+ %20&<>\"'é🐎=?#;%");
        }
        if script.has(&Fault::LongTokens) {
            token.push('!');
            token.push_str(&"x".repeat(3000));
        }
        if script.has(&Fault::UnchangedToken) {
            *self.place.lock().unwrap() = next.offset;
            token = "session".to_owned();
        }
        let token = token
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let cursor = selection.offset;
        let size = complete_list_size(script, all, cursor);
        format!("<resumptionToken cursor=\"{cursor}\"{size}>{token}</resumptionToken>")
    }

    fn resumed(&self, script: &Script, token: &str) -> Option<Selection> {
        if script.has(&Fault::UnchangedToken) {
            let offset = *self.place.lock().unwrap();
            return (token == "session").then(|| Selection {
                offset,
                page: offset / script.page,
                ..Selection::default()
            });
        }
        let mut parts = token.splitn(6, '!');
        let selection = Selection {
            offset: parts.next()?.parse().ok()?,
            page: parts.next()?.parse().ok()?,
            from: parts.next()?.parse().ok(),
            until: parts.next()?.parse().ok(),
            set: parts
                .next()
                .filter(|set| !set.is_empty())
                .map(str::to_owned),
        };
        if script.has(&Fault::OddTokens) && parts.next()? != "/+ %20&<>\"'é🐎=?#;%" {
            return None;
        }
        let expired = script.faults.iter().any(|fault| match fault {
            Fault::TokensExpireAfter(records) => selection.offset > *records,
            _ => false,
        });
        (!expired).then_some(selection)
    }

    fn error(&self, script: &Script, code: &str, message: &str) -> Answer {
        let status = match script.has(&Fault::ErrorsWithStatus) {
            true => 400,
            false => 200,
        };
        let error = format!("<error code=\"{code}\">{message}</error>");
        self.wrap(script, &error, status)
    }

    /// Puts an answer into its envelope, with the faults that concern all answers.
    fn wrap(&self, script: &Script, content: &str, status: u16) -> Answer {
        let has = |fault| script.has(&fault);
        let now = match has(Fault::ClockAhead) {
            true => BEGINNING + 40_000 * 86_400,
            false => NOW,
        };
        let now = written(now, false);
        let date = match has(Fault::NoResponseDate) {
            true => String::new(),
            false => format!("<responseDate>{now}</responseDate>"),
        };
        let encoding = match has(Fault::Latin1) {
            true => "ISO-8859-1",
            false if has(Fault::Utf16) => "UTF-16",
            false => "UTF-8",
        };
        let mut text = format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>\n");
        if has(Fault::LeadingWhitespace) {
            text.insert_str(0, "\n\n  ");
        }
        if has(Fault::LeadingText) {
            text.insert_str(
                0,
                "<br />\n<b>Warning</b>: unset index in oai.php on line 3<br />\n",
            );
        }
        if has(Fault::SmallEntities) {
            text.push_str(SMALL);
        }
        if has(Fault::EntityBomb) {
            text.push_str(BOMB);
        }
        if has(Fault::ExternalEntity) {
            text.push_str(EXTERNAL);
        }
        let namespace = match has(Fault::NoNamespace) {
            true => "",
            false => " xmlns=\"http://www.openarchives.org/OAI/2.0/\"",
        };
        let request = format!("<request>{}</request>", self.base_url);
        let mut envelope = format!(
            "<OAI-PMH{namespace} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">{date}{request}{content}</OAI-PMH>"
        );
        if has(Fault::PrefixedElements) {
            envelope = prefixed(&envelope);
        }
        text.push_str(&envelope);
        if has(Fault::TrailingContent) {
            text.push_str("\n<!-- 0.1 s --> Notice: unset index");
        }
        let mut answer = plain(status, "");
        answer.headers[0].1 = "text/xml".to_owned();
        answer.body = bytes(script, &text);
        if has(Fault::UnannouncedGzip) {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&answer.body).unwrap();
            answer.body = encoder.finish().unwrap();
        }
        if has(Fault::RawDeflate) {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&answer.body).unwrap();
            answer.body = encoder.finish().unwrap();
        }
        if has(Fault::ZlibDeflate) {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&answer.body).unwrap();
            answer.body = encoder.finish().unwrap();
            let header = ("Content-Encoding".to_owned(), "deflate".to_owned());
            answer.headers.push(header);
        }
        if has(Fault::UnannouncedZstd) {
            answer.body = zstd(&answer.body);
        }
        if has(Fault::GzipMissing) {
            let header = ("Content-Encoding".to_owned(), "gzip".to_owned());
            answer.headers.push(header);
        }
        answer
    }
}

fn selected(script: &Script, selection: &Selection) -> Vec<usize> {
    let even = selection
        .set
        .as_deref()
        .map(|set| (set == "even", set == "odd"));
    let mut all: Vec<usize> = (0..script.records)
        .filter(|number| {
            let moment = script.moment(*number);
            selection.from.is_none_or(|from| from <= moment)
                && selection.until.is_none_or(|until| moment <= until)
                && even.is_none_or(|(even, odd)| if number % 2 == 0 { even } else { odd })
        })
        .collect();
    all.sort_by_key(|number| script.moment(*number));
    for fault in &script.faults {
        match fault {
            Fault::ShortLists(length) => all.truncate(*length),
            Fault::ShortSpans(length) if selection.from.is_some() && selection.until.is_some() => {
                all.truncate(*length);
            }
            Fault::NewestFirst => all.reverse(),
            _ => {}
        }
    }
    all
}

fn earliest(script: &Script) -> i64 {
    match script.has(&Fault::EarliestTooLate) {
        true => script.moment(script.records),
        false => BEGINNING,
    }
}

fn identify(script: &Script, base_url: &str) -> String {
    let granularity = match script.days {
        true => "YYYY-MM-DD",
        false => "YYYY-MM-DDThh:mm:ssZ",
    };
    let earliest = written(earliest(script), script.days);
    let deleted = match script.has(&Fault::NoDeletions) {
        true => "no",
        false => "persistent",
    };
    format!(
        "<Identify><repositoryName>Misbehaving</repositoryName><baseURL>{base_url}</baseURL>\
         <protocolVersion>2.0</protocolVersion><adminEmail>nobody@misbehaving.example</adminEmail>\
         <earliestDatestamp>{earliest}</earliestDatestamp><deletedRecord>{deleted}</deletedRecord>\
         <granularity>{granularity}</granularity></Identify>"
    )
}

/// The attribute that tells how long a list is, with a blank before it.
fn complete_list_size(script: &Script, size: usize, given: usize) -> String {
    if script.has(&Fault::NoCompleteListSize) {
        return String::new();
    }
    let mut told = size;
    for fault in &script.faults {
        match fault {
            Fault::WrongCompleteListSize => told = 3,
            Fault::RemainingSize => told = size - given,
            Fault::SizeTooLarge(more) => told = size + more,
            _ => {}
        }
    }
    format!(" completeListSize=\"{told}\"")
}

fn plain(status: u16, body: &str) -> Answer {
    Answer {
        status,
        headers: vec![("Content-Type".to_owned(), "text/html".to_owned())],
        body: body.as_bytes().to_vec(),
        sending: Sending::Whole,
    }
}

fn redirect(target: String) -> Answer {
    let mut answer = plain(302, "elsewhere");
    answer.headers.push(("Location".to_owned(), target));
    answer
}

/// Gives every element of the protocol the prefix `oai`; those of the metadata have others.
fn prefixed(xml: &str) -> String {
    let mut out = String::new();
    for piece in xml.split_inclusive('<') {
        let (name, _) = piece
            .split_once([' ', '>', '/', '<'])
            .unwrap_or((piece, ""));
        let end = piece.strip_prefix('/');
        match (end, name.contains(':') || name.is_empty()) {
            (Some(end), _) if !end.split('>').next().unwrap_or("").contains(':') => {
                out.push_str("/oai:");
                out.push_str(end);
            }
            (None, false) => {
                out.push_str("oai:");
                out.push_str(piece);
            }
            _ => out.push_str(piece),
        }
    }
    out.replace("xmlns=\"http://www.openarchives.org/OAI/2.0/\"", OAI)
}

/// A zstd frame that is not compressed: blocks of bytes as they are.
/// Compresses an answer and changes its titles, whose letters stay visible.
fn damage(answer: &mut Answer) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(&answer.body).unwrap();
    answer.body = encoder.finish().unwrap();
    for at in 0..answer.body.len() - TITLE.len() {
        if answer.body[at..].starts_with(TITLE) {
            answer.body[at + TITLE.len()] ^= 1;
        }
    }
    let header = ("Content-Encoding".to_owned(), "gzip".to_owned());
    answer.headers.push(header);
}

const TITLE: &[u8] = b"<dc:title>";

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    let mut blocks = bytes.chunks(100_000).peekable();
    while let Some(block) = blocks.next() {
        let last = u32::from(blocks.peek().is_none());
        let header = last | ((block.len() as u32) << 3);
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const OAI: &str = "xmlns:oai=\"http://www.openarchives.org/OAI/2.0/\"";
const FORMATS: &str = "<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix>\
    <schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema>\
    <metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace>\
    </metadataFormat></ListMetadataFormats>";
const SETS: &str = "<ListSets><set><setSpec>even</setSpec><setName>Even</setName></set>\
    <set><setSpec>odd</setSpec><setName>Odd &amp; strange</setName></set>\
    <set><setSpec>mime:image:svg_2bxml</setSpec><setName>image/svg+xml</setName></set></ListSets>";
const SMALL: &str = "<!DOCTYPE OAI-PMH [\n<!-- <!ENTITY uuml \"no\"> --><!ENTITY uuml '&#252;'><!ENTITY amper \"&#38;#38;\">\
    <!ENTITY who \"Smith &amper; &uuml;\">\n]>";
const BOMB: &str = "<!DOCTYPE OAI-PMH [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">\
    <!ENTITY bomb \"&b;&b;&b;&b;&b;&b;&b;&b;\">]>";
const EXTERNAL: &str = "<!DOCTYPE OAI-PMH [<!ENTITY file SYSTEM \"file:///etc/passwd\">]>";
