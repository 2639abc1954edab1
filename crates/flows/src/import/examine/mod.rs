//! The examination of one capture on the thread that reads it: status, URL rules, media type, containers, digests.
//!
//! Nothing here knows the catalog, and the order of captures does not matter, so it runs on all cores.

pub(crate) mod coded;
pub(crate) mod digests;
pub(super) mod member;
pub(crate) mod types;

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crawl::{Body, Capture, Kind};
use document::container::{self, Containers};
use document::digest::Digests;
use document::media_type::{self, MediaType};
use document::url::{self, Normal, Rules};

use self::coded::Shown;
use super::judging::{Document, Judging, Ticket};
use super::order::DigestRule;
use super::spool::{Spool, Spooled, Trouble};
use super::types::Types;
use crate::harvest::panic_message;

/// The rules that captures are looked at with.
pub(super) struct Examiner<'a> {
    pub(super) rules: Rules,
    pub(super) types: Types,
    pub(super) open: Containers,
    /// Whether the digests of archives are compared.
    pub(super) digests: DigestRule,
    /// The judge of documents by their text; none if all are taken.
    pub(super) judging: Option<&'a Judging<'a>>,
    pub(super) spool: &'a Spool<'a>,
    pub(super) limits: container::Limits,
}

/// The findings about a capture.
#[derive(Debug)]
pub(super) enum Finding {
    /// Documents of wanted types: one, or those in a container.
    Documents {
        url: Normal,
        found: Vec<WantedDocument>,
        /// The kind of a container, if it was one.
        container: bool,
        /// Members of it that were left out, and why.
        left: Vec<Skipped>,
    },
    /// It was seen again.
    Revisit(Normal),
    /// It is not kept.
    Skipped(Skipped),
    /// It was not read to its end, because somebody wants the import to stop.
    Stopped,
    /// Nothing can be kept any more.
    Fatal(anyhow::Error),
}

/// A document of a wanted type.
#[derive(Debug)]
pub(super) struct WantedDocument {
    /// Its path inside of a container.
    pub(super) member: Option<String>,
    pub(super) media_type: MediaType,
    pub(super) digests: Digests,
    /// Its bytes, unless somebody judges it.
    pub(super) held: Spooled,
    pub(super) ticket: Option<Ticket>,
}

/// A capture that is not kept, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Skipped {
    pub(super) why: SkipReason,
    pub(super) reason: String,
    pub(super) member: Option<String>,
}

/// Which counter it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkipReason {
    Status,
    Url,
    MediaType,
    Content,
    NoText,
    NotFound,
    NoneInside,
    Unreadable,
    Unsaved,
}

impl SkipReason {
    /// The word for it, as the counts of the import have it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Url => "url",
            Self::MediaType => "other_types",
            Self::Content => "content",
            Self::NoText => "text",
            Self::NotFound => "not_found",
            Self::NoneInside => "none_inside",
            Self::Unreadable => "unreadable",
            Self::Unsaved => "unsaved",
        }
    }

    /// Whether it is filtered by its type or its status, as most of a crawl is.
    pub(super) fn is_usual(self) -> bool {
        matches!(self, Self::Status | Self::MediaType)
    }
}

impl Examiner<'_> {
    /// Looks at a capture. A bug that one brings to light costs that one.
    pub(super) fn examine(&self, capture: &Capture, body: &mut Body<'_>) -> Finding {
        let examined = catch_unwind(AssertUnwindSafe(|| self.look(capture, body)));
        match examined {
            Ok(Ok(finding)) => finding,
            Ok(Err(Stop::Skipped(left))) => Finding::Skipped(left),
            Ok(Err(Stop::Stopped)) => Finding::Stopped,
            Ok(Err(Stop::Fatal(error))) => Finding::Fatal(error),
            Err(panic) => {
                let reason = format!("a bug in garner: {}", panic_message(&*panic));
                Finding::Skipped(skipped(SkipReason::Unreadable, reason))
            }
        }
    }

    fn look(&self, capture: &Capture, body: &mut Body<'_>) -> Result<Finding, Stop> {
        if matches!(capture.kind, Kind::Revisit { .. }) {
            self.check_digests(body, false);
            return self.revisit(capture);
        }
        if let Some(status) = capture.status.filter(|status| !is_success(*status)) {
            return Err(skipped(SkipReason::Status, format!("status {status}")).into());
        }
        let url = self.url(&capture.url)?;
        let mut head = [0; media_type::HEAD];
        let length = match fill(body, &mut head) {
            Ok(length) => length,
            Err(error) => return Err(self.not_had(capture, error).into()),
        };
        let head = &head[..length];
        let media_type = media_type::decide(capture.declared.as_deref(), head);
        self.refuse_coded(capture, &media_type, head)?;
        if self.types.contains(&media_type.decided) {
            self.check_digests(body, true);
            let found = self.document(&url.url, None, media_type, head, body)?;
            body.tell_digests(found.digests.sha1, found.digests.sha256);
            return Ok(Finding::Documents {
                url,
                found: vec![found],
                container: false,
                left: Vec::new(),
            });
        }
        if self.is_container(&media_type.decided, head) {
            self.check_digests(body, false);
            let opened = self.open(url, &media_type.decided, head, body);
            self.read_on(body);
            return opened;
        }
        // A document of another type than the declared one may have been damaged to what it is.
        if media_type
            .told()
            .is_some_and(|told| self.types.contains(told))
        {
            self.check_digests(body, false);
            self.read_on(body);
        }
        Err(self.unwanted(media_type).into())
    }

    fn check_digests(&self, body: &mut Body<'_>, told: bool) {
        if self.digests != DigestRule::Ignore {
            body.check_digests(told);
        }
    }

    /// Reads a body whose digests are compared to its end. That it cannot be read is not its digests' fault.
    fn read_on(&self, body: &mut Body<'_>) {
        if self.digests != DigestRule::Ignore {
            let _ = io::copy(body, &mut io::sink());
        }
    }

    /// A revisit has no bytes to look at, so that the server's word counts: a page or a picture is never kept.
    fn revisit(&self, capture: &Capture) -> Result<Finding, Stop> {
        if let Some(status) = capture.status.filter(|_| !was_there(capture.status)) {
            return Err(skipped(SkipReason::Status, format!("status {status}")).into());
        }
        let url = self.url(&capture.url)?;
        let declared = capture.declared.as_deref().unwrap_or_default();
        if is_page_or_picture(declared) && !self.types.contains(declared) {
            return Err(skipped(SkipReason::MediaType, declared.to_owned()).into());
        }
        Ok(Finding::Revisit(url))
    }

    /// The URL as it is kept, unless a rule refuses it.
    fn url(&self, url: &str) -> Result<Normal, Skipped> {
        let normal =
            url::normalise(url).map_err(|error| skipped(SkipReason::Url, error.to_string()))?;
        match self.rules.refuses(&normal) {
            Some(refusal) => Err(skipped(SkipReason::Url, refusal.to_string())),
            None => Ok(normal),
        }
    }

    /// Whether documents are looked for inside. An office document is a zip archive, and a document all the same.
    fn is_container(&self, decided: &str, head: &[u8]) -> bool {
        self.open.opens(head) && (decided == ZIP || !head.starts_with(b"PK"))
    }

    /// Refuses bytes that may have a coding which was not undone, unless they show what they are. They would be stored
    /// under the type of the document that is in them.
    fn refuse_coded(
        &self,
        capture: &Capture,
        media_type: &MediaType,
        head: &[u8],
    ) -> Result<(), Skipped> {
        let Some(coding) = &capture.coding else {
            return Ok(());
        };
        match (coded::shows(coding, media_type, head), media_type.told()) {
            (Shown::Plain, _) | (Shown::Unknown, None) => Ok(()),
            (_, Some(told)) if !self.types.contains(told) => {
                Err(skipped(SkipReason::MediaType, told.to_owned()))
            }
            _ => Err(skipped(SkipReason::Unreadable, coded::reason(coding))),
        }
    }

    /// The message on a type that is not wanted.
    fn unwanted(&self, media_type: MediaType) -> Skipped {
        let told = media_type.told().filter(|told| self.types.contains(told));
        let reason = match told {
            Some(told) => format!("{}, declared as {told}", media_type.decided),
            None => media_type.decided,
        };
        skipped(SkipReason::MediaType, reason)
    }

    /// The message on a capture whose bytes are missing. Of a file that is not there, the type that the log tells counts
    /// first, as in the Crawl Document Importer (Algorithm 1).
    fn not_had(&self, capture: &Capture, error: io::Error) -> Skipped {
        let unreadable = unreadable(error);
        let declared = capture.declared.as_deref().unwrap_or_default();
        // A type that says nothing, and one that may have documents inside, may be wanted.
        let may_be = |word: &&str| declared.contains(*word);
        let is_other =
            declared.contains('/') && !VAGUE.iter().any(may_be) && !self.types.contains(declared);
        match unreadable.why == SkipReason::NotFound && is_other {
            true => skipped(SkipReason::MediaType, declared.to_owned()),
            false => unreadable,
        }
    }

    fn document(
        &self,
        url: &str,
        member: Option<&str>,
        media_type: MediaType,
        head: &[u8],
        rest: &mut dyn Read,
    ) -> Result<WantedDocument, Stop> {
        let (held, digests) = self.spool.hold(head, rest)?;
        let (held, ticket) = match self.judging {
            None => (held, None),
            Some(judging) => {
                let ticket = judging.hand_over(Document {
                    url: url.to_owned(),
                    media_type: media_type.decided.clone(),
                    sha1: digests.sha1_hex(),
                    held,
                });
                (Spooled::Nothing, Some(ticket))
            }
        };
        Ok(WantedDocument {
            member: member.map(str::to_owned),
            media_type,
            digests,
            held,
            ticket,
        })
    }

    /// Takes the documents out of a container.
    fn open(
        &self,
        url: Normal,
        decided: &str,
        head: &[u8],
        body: &mut Body<'_>,
    ) -> Result<Finding, Stop> {
        let mut found = Vec::new();
        let mut lefts = Vec::new();
        let mut ended = None;
        let mut take = |path: &str, member: &mut dyn Read| {
            match self.member(&url.url, path, member) {
                Ok(document) => found.push(document),
                Err(Stop::Skipped(left)) => lefts.push(Skipped {
                    member: Some(path.to_owned()).filter(|path| !path.is_empty()),
                    ..left
                }),
                Err(stop) => {
                    ended = Some(stop);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        };
        let opened = container::open(head, body, self.open, &self.limits, &mut take);
        if let Some(stop) = ended {
            return Err(stop);
        }
        // A member of another type is no loss.
        lefts.retain(|left| left.why != SkipReason::MediaType);
        match opened {
            // The members before the damage are good, and a member that ran into it has said so.
            Err(error) if lefts.is_empty() => {
                lefts.push(skipped(SkipReason::Unreadable, error.to_string()));
            }
            Err(_) => {}
            Ok(opened) => {
                for member in opened.skipped {
                    let is_told = |left: &Skipped| left.member.as_ref() == Some(&member.path);
                    if !lefts.iter().any(is_told) {
                        lefts.push(Skipped {
                            member: Some(member.path),
                            ..skipped(SkipReason::Unreadable, member.reason)
                        });
                    }
                }
            }
        }
        if found.is_empty() && lefts.is_empty() {
            let reason = format!("no wanted document in {decided}");
            return Err(skipped(SkipReason::NoneInside, reason).into());
        }
        Ok(Finding::Documents {
            url,
            found,
            container: true,
            left: lefts,
        })
    }

    fn member(&self, url: &str, path: &str, member: &mut dyn Read) -> Result<WantedDocument, Stop> {
        let mut head = [0; media_type::HEAD];
        let length = fill(member, &mut head).map_err(unreadable)?;
        let head = &head[..length];
        let media_type = media_type::decide(None, head);
        if !self.types.contains(&media_type.decided) {
            return Err(skipped(SkipReason::MediaType, media_type.decided).into());
        }
        let path = Some(path).filter(|path| !path.is_empty());
        self.document(url, path, media_type, head, member)
    }
}

/// The reason to stop examining a capture.
enum Stop {
    Skipped(Skipped),
    Stopped,
    Fatal(anyhow::Error),
}

impl From<Skipped> for Stop {
    fn from(left: Skipped) -> Self {
        Self::Skipped(left)
    }
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Read(error) => Self::Skipped(unreadable(error)),
            Trouble::Stopped => Self::Stopped,
            Trouble::TooLong(error) => {
                Self::Skipped(skipped(SkipReason::Unsaved, error.to_string()))
            }
            Trouble::Write(error) => Self::Fatal(error),
        }
    }
}

pub(super) fn skipped(why: SkipReason, reason: String) -> Skipped {
    Skipped {
        why,
        reason,
        member: None,
    }
}

fn unreadable(error: io::Error) -> Skipped {
    match error.kind() {
        io::ErrorKind::NotFound => skipped(SkipReason::NotFound, error.to_string()),
        _ => skipped(SkipReason::Unreadable, error.to_string()),
    }
}

/// Whether there is a document to be had: an answer in the two hundreds that is whole, of HTTP or of FTP.
fn is_success(status: i32) -> bool {
    (200..300).contains(&status) && !matches!(status, 204..=206)
}

fn is_page_or_picture(declared: &str) -> bool {
    PAGES.contains(&declared) || PICTURES.iter().any(|kind| declared.starts_with(kind))
}

/// Whether there was a document, be it sent again or not; also if nothing is said.
pub(super) fn was_there(status: Option<i32>) -> bool {
    status.is_none_or(|status| is_success(status) || status == NOT_MODIFIED)
}

const ZIP: &str = "application/zip";
const NOT_MODIFIED: i32 = 304;
/// Types that servers do not give to a document by mistake.
const PAGES: [&str; 5] = [
    "text/html",
    "application/xhtml+xml",
    "text/css",
    "text/javascript",
    "application/javascript",
];
/// Words in types that do not tell what a document is.
const VAGUE: [&str; 8] = [
    "octet-stream",
    "download",
    "unknown",
    "binary",
    "zip",
    "tar",
    "compress",
    "archive",
];
const PICTURES: [&str; 4] = ["image/", "video/", "audio/", "font/"];

/// Reads until the buffer is full or the end is there.
fn fill(from: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match from.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
