//! Classifies a record: a capture, a statement about one, or neither.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::io::BufRead;
use std::rc::Rc;

use super::block::Block;
use super::digest::{Check, Said};
use super::heads::arc::ArcLine;
use super::heads::http::{self, HttpHead};
use super::heads::warc::{self, WarcHead};
use super::heads::{date, fields};
use super::parts::PartHead;
use super::payload;
use crate::{Body, Capture, Kind, Limits, Oddity, Place, RecordCheck};

/// A record whose head was read.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) length: u64,
    /// Its lines end in LF alone.
    pub(super) is_lf: bool,
    pub(super) role: Role,
    /// The digests that it should have, if its head names any.
    pub(super) check: Option<Rc<Check>>,
    /// It is a part of a record.
    pub(super) part: Option<Box<PartHead>>,
}

#[derive(Debug)]
pub(super) enum Role {
    Capture(Box<Capture>, Link, Wrapping),
    Request(Box<Fact>),
    Metadata(Box<Fact>),
    /// Nothing that anybody asks for, such as `warcinfo`.
    Other,
    /// It would be a capture, but not one that can be read.
    Refused(&'static str),
}

/// Whether there is an HTTP head around the payload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wrapping {
    Http,
    Unknown,
    None,
}

/// The IDs that tie records together, hashed for quick comparison. 0 stands for none.
#[derive(Debug, Default)]
pub(super) struct Link {
    id: u64,
    others: Vec<u64>,
    url_and_date: u64,
}

impl Link {
    /// Whether one of the two names the other.
    pub(super) fn names(&self, other: &Self) -> bool {
        self.has(other.id) || other.has(self.id)
    }

    /// Whether both name a third.
    pub(super) fn shares(&self, other: &Self) -> bool {
        self.others.iter().any(|id| other.has(*id))
    }

    /// Whether anything ties the two together.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.names(other) || self.shares(other) || self.is_alike(other)
    }

    fn has(&self, id: u64) -> bool {
        id != 0 && self.others.contains(&id)
    }

    /// Whether both are of the same URL at the same second.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.url_and_date != 0 && self.url_and_date == other.url_and_date
    }
}

/// The statements of a request or metadata record about a capture.
#[derive(Debug, Default)]
pub(super) struct Fact {
    pub(super) link: Link,
    /// The URL, date and place of the record; what it says is in the other fields.
    pub(super) capture: Capture,
    /// It comes from the crawler, which knows better than the header of a request.
    pub(super) is_metadata: bool,
    /// How the digests of its record compare, if they were compared.
    pub(super) check: Option<Box<RecordCheck>>,
}

impl Fact {
    /// Whether it says anything.
    pub(super) fn is_of_use(&self) -> bool {
        let said = &self.capture;
        said.parent.is_some() || said.is_seed.is_some() || said.path_from_seed.is_some()
    }

    /// Adds what it says to a capture.
    pub(super) fn tell(self, capture: &mut Capture) {
        let said = self.capture;
        if self.is_metadata || capture.parent.is_none() {
            capture.parent = said.parent.or(capture.parent.take());
        }
        capture.is_seed = said.is_seed.or(capture.is_seed);
        capture.path_from_seed = said.path_from_seed.or(capture.path_from_seed.take());
        capture.depth = said.depth.or(capture.depth);
    }
}

/// Makes numbers of names. Nobody outside can make two names have the same number.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys(RandomState);

impl Keys {
    fn id(&self, id: &[u8]) -> u64 {
        let id = id.trim_ascii();
        let id = id.strip_prefix(b"<").unwrap_or(id);
        let id = id.strip_suffix(b">").unwrap_or(id);
        match id.is_empty() {
            true => 0,
            false => self.0.hash_one(id),
        }
    }

    fn link(&self, head: &WarcHead<'_>, is_revisit: bool, url: &str, crawled: Option<i64>) -> Link {
        // A revisit refers to an earlier capture, which has requests and metadata of its own.
        let refers_to = Some(&head.refers_to).filter(|_| !is_revisit);
        let others = head.concurrent_to.iter().chain(refers_to);
        Link {
            id: self.id(&head.id),
            others: others.map(|id| self.id(id)).filter(|id| *id != 0).collect(),
            url_and_date: match crawled {
                Some(crawled) if !url.is_empty() => self.0.hash_one((url, crawled)),
                _ => 0,
            },
        }
    }
}

impl Record {
    /// The record that a WARC head begins.
    pub(super) fn of_warc(head: &WarcHead<'_>, keys: &Keys, place: Place) -> Self {
        let role = warc_role(head, keys, place);
        Self {
            length: head.length,
            is_lf: head.is_lf,
            check: match &role {
                Role::Capture(capture, ..) => check(head, &capture.kind),
                Role::Refused(_) => None,
                Role::Request(_) | Role::Metadata(_) | Role::Other => check(head, &Kind::Document),
            },
            role,
            part: None,
        }
    }

    /// Takes another length for that of its head, which is wrong.
    pub(super) fn repair(&mut self, length: u64) {
        if let Role::Capture(capture, ..) = &mut self.role {
            capture.oddities.push(Oddity::Length {
                wrong: self.length,
                right: length,
            });
        }
        self.length = length;
    }

    /// The record that a line of an ARC file begins.
    pub(super) fn of_arc(line: &ArcLine<'_>, place: Place) -> Self {
        let url = warc::url(&line.url[..line.url.len().min(fields::URL)]);
        let role = match is_note(&url) {
            false if line.url.len() > fields::URL => Role::Refused(LONG_URL),
            false => Role::Capture(
                Box::new(Capture {
                    url,
                    crawled: line.crawled(),
                    status: line.status,
                    declared: line.declared(),
                    place,
                    ..Capture::default()
                }),
                Link::default(),
                Wrapping::Unknown,
            ),
            true => Role::Other,
        };
        Self {
            length: line.length,
            is_lf: true,
            role,
            check: None,
            part: None,
        }
    }
}

fn warc_role(head: &WarcHead<'_>, keys: &Keys, place: Place) -> Role {
    let is = |kind: &str| head.kind.eq_ignore_ascii_case(kind.as_bytes());
    let [is_request, is_metadata] = ["request", "metadata"].map(is);
    let [is_response, is_resource, is_revisit] = ["response", "resource", "revisit"].map(is);
    if is("continuation") {
        return Role::Other;
    }
    if !(is_request || is_metadata || is_response || is_resource || is_revisit) {
        return match is("warcinfo") || is("conversion") {
            true => Role::Other,
            false => Role::Refused("its WARC-Type is none that is known"),
        };
    }
    if head.url.len() > fields::URL {
        return match is_request || is_metadata {
            true => Role::Other,
            false => Role::Refused(LONG_URL),
        };
    }
    if head.url.trim_ascii().is_empty() && !(is_request || is_metadata) {
        return Role::Refused("its head has no WARC-Target-URI");
    }
    let (url, crawled) = (warc::url(&head.url), date::iso(&head.date));
    let link = keys.link(head, is_revisit, &url, crawled);
    let capture = Capture {
        url,
        crawled,
        place,
        ..Capture::default()
    };
    if is_request || is_metadata {
        let is_fields = fields::media_type(&head.content_type)
            .is_some_and(|media_type| media_type == "application/warc-fields");
        let fact = Box::new(Fact {
            link,
            capture,
            is_metadata,
            check: None,
        });
        return match is_metadata {
            true if is_fields => Role::Metadata(fact),
            true => Role::Other,
            false => Role::Request(fact),
        };
    }
    if is_note(&capture.url) {
        return Role::Other;
    }
    let declared = fields::media_type(&head.content_type);
    let is_http = declared
        .as_deref()
        .is_some_and(|declared| declared == "application/http");
    let wrapping = match (is_http, is_resource) {
        (true, _) => Wrapping::Http,
        (false, false) => Wrapping::Unknown,
        (false, true) => Wrapping::None,
    };
    let capture = Capture {
        declared: declared.filter(|_| !is_http),
        digest: digest(head, is_revisit),
        truncated: fields::short(&head.truncated).filter(|_| !is_revisit),
        kind: match is_revisit {
            true => Kind::Revisit {
                refers_to: fields::url(&head.refers_to_url),
                refers_to_date: date::iso(&head.refers_to_date),
            },
            false => Kind::Document,
        },
        ..capture
    };
    Role::Capture(Box::new(capture), link, wrapping)
}

/// Reads the HTTP head of a capture, if there is one, and has `work` done on its payload.
pub(super) fn capture<T>(
    capture: &mut Capture,
    wrapping: Wrapping,
    block: &mut Block<'_>,
    limits: &Limits,
    check: Option<&Rc<Check>>,
    work: &dyn Fn(&Capture, &mut Body<'_>) -> T,
) -> Result<T, &'static str> {
    let begins = block.peek(8);
    if begins.starts_with(b"DELETED_") {
        return Err("its bytes were taken out of the archive");
    }
    let mut is_http = wrapping != Wrapping::None && http::begins(begins);
    let is_revisit = matches!(capture.kind, Kind::Revisit { .. });
    if wrapping == Wrapping::Http && !is_http && !is_revisit && block.remaining() > 0 {
        is_http = fields::is_head(block.peek(limits.head));
        capture.oddities.push(Oddity::HttpHead);
    }
    let mut head = HttpHead::default();
    if is_http {
        let mut is_whole;
        (head, is_whole) = http_head(block, limits, is_revisit)?;
        // Interim answers come before the final one: `100 Continue`, `103 Early Hints`.
        while head.status.is_some_and(|status| status < 200) && http::begins(block.peek(8)) {
            (head, is_whole) = http_head(block, limits, is_revisit)?;
        }
        if !is_whole && !capture.oddities.contains(&Oddity::HttpHead) {
            capture.oddities.push(Oddity::HttpHead);
        }
        capture.status = head.status.or(capture.status);
        capture.declared = head.media_type.take();
        capture.last_modified = head.last_modified.take();
    }
    if let Some(check) = check {
        check.begin_body();
    }
    if is_revisit {
        return Ok(work(
            capture,
            &mut Body::empty().checked(check.cloned(), None),
        ));
    }
    let is_success = capture
        .status
        .is_none_or(|status| (200..300).contains(&status));
    if let Some(announced) = head.length.filter(|_| is_success && !head.is_chunked)
        && block.remaining() < announced
        && capture.truncated.is_none()
    {
        let length = block.remaining();
        capture
            .oddities
            .push(Oddity::ShortBody { length, announced });
    }
    let is_cut = Rc::new(Cell::new(false));
    let (mut body, coding) = payload::body(block, &head, check, limits, &is_cut);
    capture.coding = coding;
    let worked = work(capture, &mut body);
    if is_cut.get() && is_success && capture.truncated.is_none() {
        capture.oddities.push(Oddity::NoLastChunk);
    }
    Ok(worked)
}

/// Reads the head of HTTP; whether it ends as one does.
fn http_head(
    block: &mut Block<'_>,
    limits: &Limits,
    is_revisit: bool,
) -> Result<(HttpHead, bool), &'static str> {
    let mut wanted = STEP.min(limits.head);
    loop {
        let seen = block.peek(wanted);
        let (end, is_whole) = match fields::head_end(seen) {
            Some(end) => (Some(end), true),
            // Revisits may end with their head.
            None if seen.len() < wanted && is_revisit => (Some(seen.len()), true),
            // The line that ends it is lost: the body begins where no field does.
            None if seen.len() < wanted || wanted >= limits.head => {
                let end = fields::fields_end(seen);
                let is_lost = end < seen.len();
                (
                    Some(end).filter(|_| is_lost || seen.len() < wanted),
                    !is_lost,
                )
            }
            None => (None, true),
        };
        if let Some(end) = end {
            let head = HttpHead::parse(&seen[..end]);
            block.consume(end);
            return Ok((head, is_whole));
        }
        if wanted >= limits.head {
            return Err("its HTTP head is too long");
        }
        wanted = (wanted * 4).min(limits.head);
    }
}

/// The beginning of a block, without half a line at its end.
fn lines<'b>(block: &'b mut Block<'_>) -> &'b [u8] {
    let is_all = block.remaining() <= FACTS as u64;
    let seen = block.peek(FACTS);
    let end = memchr::memrchr(b'\n', seen).map_or(0, |at| at + 1);
    match is_all {
        true => seen,
        false => &seen[..end],
    }
}

/// Reads what a request says. The body of its message is its payload.
pub(super) fn request(fact: &mut Fact, block: &mut Block<'_>, check: Option<&Rc<Check>>) {
    let seen = lines(block);
    let end = fields::head_end(seen).unwrap_or(seen.len());
    fact.capture.parent = http::referer(&seen[..end]);
    if let Some(check) = check {
        block.consume(end);
        check.begin_body();
    }
}

/// Reads what the crawler says: `seed`, or `via` and `hopsFromSeed`. They stand before the links of a page.
pub(super) fn metadata(fact: &mut Fact, block: &mut Block<'_>) {
    let said = &mut fact.capture;
    fields::each(lines(block), |name, value| match name {
        b"seed" => {
            said.is_seed = Some(true);
            said.depth = Some(0);
        }
        b"via" => said.parent = fields::url(&value),
        b"hopsFromSeed" if value.len() <= PATH => {
            let path = fields::text(&value);
            said.depth = depth(&path);
            said.path_from_seed = Some(path);
        }
        _ => {}
    });
    if said.is_seed.is_none() && said.parent.is_some() {
        said.is_seed = Some(false);
    }
}

/// Heritrix cuts long paths off and writes before them how many hops are gone: `12+LLE`.
fn depth(path: &str) -> Option<u32> {
    let (gone, letters) = match path.split_once('+') {
        Some((gone, letters)) => (gone.parse().ok()?, letters),
        None => (0, path),
    };
    u32::try_from(letters.len()).ok()?.checked_add(gone)
}

/// Schemes under which crawlers keep notes of their own.
fn is_note(url: &str) -> bool {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    let notes = ["dns", "whois", "filedesc", "warcinfo", "metadata", "urn"];
    notes.iter().any(|note| scheme.eq_ignore_ascii_case(note))
}

/// Returns the check of the record's digests, if it has any. A revisit has no payload of its own.
fn check(head: &WarcHead<'_>, kind: &Kind) -> Option<Rc<Check>> {
    let said = |digest| fields::short(digest).and_then(Said::parse);
    let block = said(&head.block_digest);
    let payload = match kind {
        Kind::Document => said(&head.payload_digest),
        Kind::Revisit { .. } => None,
    };
    let is_some = block.is_some() || payload.is_some();
    is_some.then(|| Rc::new(Check::new(block, payload)))
}

/// The digest of a payload. That of nothing, which some write for pages that did not change, says nothing.
fn digest(head: &WarcHead<'_>, is_revisit: bool) -> Option<String> {
    let digest = fields::short(&head.payload_digest)?;
    let is_of_nothing = digest.ends_with("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
        || digest.ends_with("da39a3ee5e6b4b0d3255bfef95601890afd80709");
    (!(is_revisit && is_of_nothing)).then_some(digest)
}

const STEP: usize = 4096;

/// The longest discovery path. Heritrix keeps 50 letters.
const PATH: usize = 1024;

const LONG_URL: &str = "its URL is longer than any that is read";

/// How much of a request or metadata record is looked at.
const FACTS: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_the_hops_that_were_cut_off() {
        assert_eq!(depth("LLE"), Some(3));
        assert_eq!(depth(""), Some(0));
        assert_eq!(depth("12+LLE"), Some(15));
        assert_eq!(depth("x+LLE"), None);
        assert_eq!(depth("4294967295+L"), None);
    }

    #[test]
    fn notes_of_crawlers_are_no_documents() {
        for url in ["dns:h", "filedesc://x.arc", "metadata://gnu.org/x", "urn:x"] {
            assert!(is_note(url), "{url}");
        }
        for url in ["http://h/", "ftp://h/x.pdf", "HTTPS://h/", "", "x"] {
            assert!(!is_note(url), "{url}");
        }
    }
}
