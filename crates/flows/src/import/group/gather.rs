//! Gathers what the threads found, in the order of the source, into groups.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use catalog::{CaptureRow, ContentRow, ParentRow};
use crawl::{Capture, Checked, Place, RecordCheck, SourceEvent};
use document::url::{self, Normal, Rules};
use document::{digest, media_type};

use super::{Content, Group};
use crate::import::digests::Tally;
use crate::import::examine::member::md5_of_member;
use crate::import::examine::{Finding, SkipReason, WantedDocument, skipped, was_there};
use crate::import::met::Met;
use crate::import::order::DigestRule;
use crate::import::sources::{self, Sources};
use crate::import::types::Types;

/// Makes groups of one source.
pub(in crate::import) struct Gatherer<'a> {
    pub(in crate::import) rules: &'a Rules,
    /// The media types that are wanted.
    pub(in crate::import) types: &'a Types,
    pub(in crate::import) sources: &'a Sources,
    pub(in crate::import) crawler: Option<&'a str>,
    /// The date of captures that have none: when their file was written.
    pub(in crate::import) undated: Option<(PathBuf, i64)>,
    /// Another date for these.
    pub(in crate::import) undated_as: Option<i64>,
    pub(in crate::import) group: Group,
    pub(in crate::import) groups: &'a SyncSender<Group>,
    pub(in crate::import) fatal: Option<anyhow::Error>,
    /// Whether a capture was not read to its end, because somebody wants the import to stop.
    pub(in crate::import) stopped: bool,
    /// The treatment of captures that do not have the digests of their archive, and the findings on these.
    pub(in crate::import) rule: DigestRule,
    pub(in crate::import) tally: Tally,
    /// Captures that are still read, if not all are; and whether there were more.
    pub(in crate::import) left: Option<&'a AtomicU64>,
    pub(in crate::import) is_enough: bool,
    /// The SHA-1 of bodies as they were transferred, of documents whose bytes are others: revisits name the first.
    pub(in crate::import) transferred: HashMap<String, String>,
}

impl Gatherer<'_> {
    /// Takes what comes next. Breaks if nobody takes groups any more.
    pub(in crate::import) fn take(&mut self, news: SourceEvent<Finding>) -> ControlFlow<()> {
        match news {
            SourceEvent::Capture(mut capture, finding) => {
                if let Some(left) = self.left {
                    let Some(less) = left.load(Ordering::Relaxed).checked_sub(1) else {
                        self.is_enough = true;
                        return ControlFlow::Break(());
                    };
                    left.store(less, Ordering::Relaxed);
                }
                if let Some(place) = self.sources.real_place(&capture.place.file) {
                    capture.place.file = place.to_owned();
                }
                if let Some(log) = &self.sources.log {
                    log.complete(&mut capture);
                }
                self.group.counters.all += 1;
                let (finding, mismatch) = self.digests(&capture, finding);
                return self.capture(&capture, finding, mismatch);
            }
            SourceEvent::Late(capture) => self.late(&capture),
            SourceEvent::Checked(check) => self.check(&check),
            SourceEvent::Skipped(skipped) => self.group.skip(&skipped.place, &skipped.reason),
            SourceEvent::Noted(noted) => self.group.warn(&noted.place, noted.reason),
            SourceEvent::Position(position) => {
                self.group.advance(position);
                if self.group.is_due() {
                    return self.send();
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Notes that the source cannot be read on.
    pub(in crate::import) fn cannot_read(&mut self, name: &str, reason: &str) {
        let place = Place {
            file: PathBuf::from(name),
            offset: self.group.position,
            member: None,
        };
        self.group.skip(&place, reason);
    }

    /// Looks at how the digests of a capture compare, and leaves it out if that is wanted. Returns which do not fit.
    fn digests(&mut self, capture: &Capture, finding: Finding) -> (Finding, Option<String>) {
        if self.rule == DigestRule::Ignore {
            return (finding, None);
        }
        let is_document = matches!(finding, Finding::Documents { .. });
        let digests = &capture.digests;
        let mismatch = self
            .tally
            .take(digests, &capture.place, &capture.url, &mut self.group);
        if is_document {
            self.group.count_digests(digests);
        }
        match &mismatch {
            Some(which) if is_document && self.rule == DigestRule::Skip => {
                let reason = format!("skipped: its {which} digest is that of other bytes");
                (
                    Finding::Skipped(skipped(SkipReason::Unreadable, reason)),
                    mismatch,
                )
            }
            _ => (finding, mismatch),
        }
    }

    /// Takes how the digests of a record compare that is no capture.
    fn check(&mut self, check: &RecordCheck) {
        let RecordCheck {
            place,
            record,
            digests,
        } = check;
        self.tally.take(digests, place, record, &mut self.group);
    }

    /// Tells what is left to be told of the digests of an archive; `is_all` says that it was read to its end.
    pub(in crate::import) fn end_digests(&mut self, name: &str, is_all: bool) {
        let archive = Place {
            file: PathBuf::from(name),
            ..Place::default()
        };
        self.tally.end(&archive, is_all, &mut self.group);
    }

    /// Sends what there is up to the last position, because no more is read.
    pub(in crate::import) fn stop(&mut self, name: &str) -> ControlFlow<()> {
        self.group.rewind();
        self.end_digests(name, false);
        self.send()
    }

    /// Sends the last group of the source.
    pub(in crate::import) fn end(&mut self, position: u64) -> ControlFlow<()> {
        self.group.advance(position);
        self.group.source_done = true;
        self.send()
    }

    fn send(&mut self) -> ControlFlow<()> {
        let mut next = Group::new(self.group.source, self.group.position);
        next.only_tells = self.group.only_tells;
        let group = std::mem::replace(&mut self.group, next);
        match self.groups.send(group) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    fn capture(
        &mut self,
        capture: &Capture,
        finding: Finding,
        mismatch: Option<String>,
    ) -> ControlFlow<()> {
        // An unwanted capture is of no interest, unless it tells that the archive is damaged.
        let is_unwanted = matches!(&finding, Finding::Skipped(left) if left.why.is_usual());
        for oddity in &capture.oddities {
            if oddity.is_damage() || !is_unwanted {
                let reason = format!("{}: {oddity}", capture.url);
                self.group.warn(&capture.place, reason);
            }
        }
        match finding {
            Finding::Documents {
                url,
                found,
                container,
                left,
            } => {
                self.group.counters.containers += u64::from(container);
                for left in &left {
                    self.group.leave(&url.url, &capture.place, left);
                }
                for found in found {
                    self.document(capture, &url, found, mismatch.clone());
                }
            }
            Finding::Revisit(url) => self.revisit(capture, url),
            Finding::Skipped(left) => {
                // It was opened, and there was nothing in it.
                self.group.counters.containers += u64::from(left.why == SkipReason::NoneInside);
                self.group.leave(&capture.url, &capture.place, &left);
            }
            Finding::Stopped => {
                self.stopped = true;
                return ControlFlow::Break(());
            }
            Finding::Fatal(error) => {
                self.fatal = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn document(
        &mut self,
        capture: &Capture,
        url: &Normal,
        found: WantedDocument,
        mismatch: Option<String>,
    ) {
        if let Some(why) = &capture.truncated {
            let reason = format!("{}: the crawler cut it off: {why}", capture.url);
            self.group.warn(&capture.place, reason);
        }
        let WantedDocument {
            member,
            media_type,
            digests,
            held,
            ticket,
        } = found;
        if member.is_none() {
            self.note_transferred(capture, &digests.sha1_hex());
        }
        let content = ContentRow::Bytes {
            sha1: digests.sha1_hex(),
            sha256: digests.sha256_hex(),
            size: digests.size,
            extension: media_type::extension(&media_type.decided).to_owned(),
        };
        let mut row = self.row(capture, url.clone(), content);
        if let Some(member) = &member {
            row.md5 = md5_of_member(&row.url, member);
            row.member = Some(member.clone());
        }
        row.declared_type.clone_from(&media_type.declared);
        row.sniffed_type.clone_from(&media_type.sniffed);
        row.media_type.clone_from(&media_type.decided);
        row.digest_mismatch.clone_from(&mismatch);
        let met = Met {
            crawler: self.crawler.map(str::to_owned),
            crawl_date: row.crawled,
            last_modified: capture.last_modified.clone(),
            url: row.url.clone(),
            parent_url: row.parent.as_ref().map(|parent| parent.url.clone()),
            depth: capture.depth,
            seed: capture.is_seed,
            declared: media_type.declared,
            sniffed: media_type.sniffed,
            media_type: media_type.decided,
            member,
            source: capture.place.to_string(),
            digest_mismatch: mismatch,
            ..Met::default()
        };
        let met = met.with_digests(&digests);
        let content = Content {
            held,
            text: None,
            met,
            place: capture.place.clone(),
            ticket,
        };
        self.group.push(row, Some(content));
    }

    /// Notes by which digest revisits name a document whose body had chunks or a coding.
    fn note_transferred(&mut self, capture: &Capture, sha1: &str) {
        let is_other = matches!(capture.digests.payload, Checked::Differs(_));
        let written = capture.digest.as_deref().and_then(digest::sha1_written);
        if let Some(written) = written.filter(|written| written != sha1 && !is_other)
            && self.transferred.len() < TRANSFERRED
        {
            self.transferred.insert(written, sha1.to_owned());
        }
    }

    fn revisit(&mut self, capture: &Capture, url: Normal) {
        // The catalog remembers revisits of what it does not know. Pages and pictures are most of them, and no documents.
        let declared = capture.declared.as_deref();
        if declared.is_some_and(|declared| is_other(declared) && !self.types.contains(declared)) {
            self.group.counters.revisits += 1;
            self.group.counters.revisits_unknown += 1;
            return;
        }
        let sha1 = capture.digest.as_deref().and_then(digest::sha1_written);
        let sha1 = sha1.map(|sha1| self.transferred.get(&sha1).cloned().unwrap_or(sha1));
        let row = self.row(capture, url, ContentRow::Revisit { sha1 });
        self.group.push(row, None);
    }

    /// The statement of a metadata record, or of a log, about a capture that was handed over long before.
    fn late(&mut self, capture: &Capture) {
        let says_something =
            capture.parent.is_some() || capture.depth.is_some() || capture.is_seed.is_some();
        if self.group.only_tells && !(says_something && was_there(capture.status)) {
            return;
        }
        let Ok(url) = url::normalise(&capture.url) else {
            return;
        };
        if self.rules.refuses(&url).is_some() {
            return;
        }
        let row = self.row(capture, url, ContentRow::EdgeOnly);
        self.group.push(row, None);
    }

    fn row(&mut self, capture: &Capture, url: Normal, content: ContentRow) -> CaptureRow {
        CaptureRow {
            parent: self.parent(capture),
            url: url.url,
            md5: url.md5,
            host: url.host,
            depth: capture.depth,
            is_seed: capture.is_seed,
            crawled: capture
                .crawled
                .unwrap_or_else(|| self.undated(&capture.place.file)),
            content,
            declared_type: None,
            sniffed_type: None,
            media_type: String::new(),
            member: None,
            source: capture.place.to_string(),
            digest_mismatch: None,
        }
    }

    /// When a file was written.
    fn undated(&mut self, file: &Path) -> i64 {
        if let Some(date) = self.undated_as {
            return date;
        }
        match &self.undated {
            Some((path, date)) if path == file => *date,
            _ => {
                let date = sources::written(file);
                self.undated = Some((file.to_owned(), date));
                date
            }
        }
    }

    /// The parent, if it is a URL that can be kept. One that cannot does not cost the document.
    fn parent(&mut self, capture: &Capture) -> Option<ParentRow> {
        let parent = capture.parent.as_deref()?;
        let normal = match url::normalise(parent) {
            Ok(normal) => normal,
            Err(error) => {
                let reason = format!("{}: its parent is skipped: {error}", capture.url);
                self.group.warn(&capture.place, reason);
                return None;
            }
        };
        if normal.url.len() > self.rules.max_length {
            let reason = format!(
                "{}: its parent is skipped: the URL is too long",
                capture.url
            );
            self.group.warn(&capture.place, reason);
            return None;
        }
        Some(ParentRow {
            url: normal.url,
            md5: normal.md5,
            host: normal.host,
        })
    }
}

/// Whether a server that says so has hardly sent a document under a wrong name.
/// At most this number of bodies of one source is remembered.
const TRANSFERRED: usize = 1_000_000;

fn is_other(declared: &str) -> bool {
    let kind = declared.split('/').next();
    matches!(kind, Some("image" | "audio" | "video" | "font"))
        || matches!(
            declared,
            "text/html"
                | "application/xhtml+xml"
                | "text/css"
                | "text/javascript"
                | "application/javascript"
                | "application/x-javascript"
                | "application/json"
        )
}
