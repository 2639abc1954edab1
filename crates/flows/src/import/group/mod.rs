//! A group of captures that is committed at once: rows, counters, and the position up to which all is in it.

pub(super) mod gather;
pub(super) mod resolve;

use std::time::{Duration, Instant};

use catalog::{CaptureRow, ImportCounters, ImportWarning, JudgementRow};
use crawl::{Checked, DigestCheck, Place};

use super::events::{Fate, FateKind, Stage};
use super::examine::{SkipReason, Skipped};
use super::judging::Ticket;
use super::met::Met;
use super::review::RejectedDocument;
use super::spool::Spooled;

/// Captures that belong together, in the order of their source.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) rows: Vec<CaptureRow>,
    /// For each row, its bytes and what is written beside them, if it has any.
    pub(super) contents: Vec<Option<Content>>,
    /// The counters that rows do not tell.
    pub(super) counters: ImportCounters,
    pub(super) warnings: Vec<ImportWarning>,
    /// The findings about texts, once they are known.
    pub(super) judgements: Vec<JudgementRow>,
    /// Documents that the content filter rejected, once that is known.
    pub(super) rejected: Vec<RejectedDocument>,
    /// The lines to report, in the order of the source; those of rows are open until the commit.
    pub(super) told: Vec<ReportLine>,
    /// The source, by its place in the order.
    pub(super) source: usize,
    /// Up to where all is in this group or in one before it.
    pub(super) position: u64,
    pub(super) source_done: bool,
    /// Whether its source only tells of captures that others have: so most of it is not about documents, or is known.
    pub(super) only_tells: bool,
    /// How many bytes its documents have.
    bytes: u64,
    began: Instant,
    mark: Mark,
}

/// How much was in a group at its last position.
#[derive(Debug, Default)]
struct Mark {
    rows: usize,
    warnings: usize,
    told: usize,
    counters: ImportCounters,
}

/// The bytes that belong to a row.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) held: Spooled,
    /// The text that is stored beside it.
    pub(super) text: Option<Spooled>,
    pub(super) met: Met,
    /// Where it is from.
    pub(super) place: Place,
    /// Its bytes are with somebody who judges them.
    pub(super) ticket: Option<Ticket>,
}

/// A line for people.
#[derive(Debug)]
pub(super) enum ReportLine {
    /// It is known what became of it.
    Fate(Fate),
    /// The row with this index.
    Row(usize),
}

impl Group {
    /// An empty group that begins here.
    pub(super) fn new(source: usize, position: u64) -> Self {
        Self {
            rows: Vec::new(),
            contents: Vec::new(),
            counters: ImportCounters::default(),
            warnings: Vec::new(),
            judgements: Vec::new(),
            rejected: Vec::new(),
            told: Vec::new(),
            source,
            position,
            source_done: false,
            only_tells: false,
            bytes: 0,
            began: Instant::now(),
            mark: Mark::default(),
        }
    }

    /// Counts the digests of a document.
    pub(super) fn count_digests(&mut self, digests: &DigestCheck) {
        let found = [&digests.block, &digests.payload];
        let is_any = |wanted: fn(&Checked) -> bool| found.into_iter().any(wanted);
        let differs = is_any(|checked| matches!(checked, Checked::Differs(_)));
        let fits = is_any(|checked| *checked == Checked::Fits);
        self.counters.digest_verified += u64::from(fits && !differs);
        self.counters.digest_unverifiable +=
            u64::from(is_any(|checked| *checked == Checked::Unknown));
    }

    /// Notes that all before a position is in this group or in one before it.
    pub(super) fn advance(&mut self, position: u64) {
        self.counters.bytes_read += position.saturating_sub(self.position);
        self.position = position;
        self.mark = Mark {
            rows: self.rows.len(),
            warnings: self.warnings.len(),
            told: self.told.len(),
            counters: self.counters,
        };
    }

    /// Forgets what came behind the last position: it comes again.
    pub(super) fn rewind(&mut self) {
        let mark = std::mem::take(&mut self.mark);
        self.rows.truncate(mark.rows);
        self.contents.truncate(mark.rows);
        self.warnings.truncate(mark.warnings);
        self.told.truncate(mark.told);
        self.counters = mark.counters;
    }

    /// Whether it is time to commit it.
    pub(super) fn is_due(&self) -> bool {
        let most = match self.only_tells {
            true => ROWS_THAT_TELL,
            false => ROWS,
        };
        self.rows.len() >= most
            || self.bytes >= BYTES
            || self.warnings.len() >= WARNINGS
            || self.told.len() >= TOLD
            || self.began.elapsed() >= PATIENCE
    }

    /// Adds a row and what belongs to it.
    pub(super) fn push(&mut self, row: CaptureRow, content: Option<Content>) {
        self.bytes += content.as_ref().map_or(0, |content| content.met.size);
        self.told.push(ReportLine::Row(self.rows.len()));
        self.rows.push(row);
        self.contents.push(content);
    }

    /// Notes what is not kept.
    pub(super) fn leave(&mut self, name: &str, place: &Place, left: &Skipped) {
        let counters = &mut self.counters;
        let counter = match left.why {
            SkipReason::Status => &mut counters.skipped_status,
            SkipReason::Url => &mut counters.filtered_url,
            SkipReason::MediaType => &mut counters.filtered_mtf,
            SkipReason::Content => &mut counters.filtered_dcf,
            SkipReason::NoText => &mut counters.failed_text_extract,
            SkipReason::NotFound => &mut counters.failed_file_not_found,
            SkipReason::NoneInside => &mut counters.failed_pdf_file_not_found,
            SkipReason::Unreadable => &mut counters.failed_read,
            SkipReason::Unsaved => &mut counters.failed_save,
        };
        *counter += 1;
        // As the catalog keeps: those that come later would be let go.
        let is_noted = !left.why.is_usual() || *counter <= ImportWarning::MOST_USUAL;
        let kind = match left.why {
            SkipReason::Status => FateKind::Skipped,
            SkipReason::Url | SkipReason::MediaType | SkipReason::Content => FateKind::Filtered,
            SkipReason::NoText
            | SkipReason::NotFound
            | SkipReason::NoneInside
            | SkipReason::Unreadable
            | SkipReason::Unsaved => FateKind::Failed,
        };
        if kind == FateKind::Filtered {
            self.counters.filtered += 1;
        }
        let name = match &left.member {
            Some(member) => format!("{name}#{member}"),
            None => name.to_owned(),
        };
        if is_noted {
            self.note(place, left.why.word(), format!("{name}: {}", left.reason));
        }
        self.told.push(ReportLine::Fate(Fate {
            kind,
            name,
            detail: left.reason.clone(),
            place: place.to_string(),
            stage: match left.why {
                SkipReason::Status | SkipReason::Url | SkipReason::Unreadable => Stage::Before,
                SkipReason::MediaType => Stage::MediaType,
                SkipReason::NoText => Stage::Text,
                SkipReason::Content => Stage::Content,
                SkipReason::NotFound | SkipReason::NoneInside | SkipReason::Unsaved => Stage::Kept,
            },
            number: None,
        }));
    }

    /// Notes something that is no readable record.
    pub(super) fn skip(&mut self, place: &Place, reason: &str) {
        self.counters.skipped_records += 1;
        self.note(place, "record", reason.to_owned());
        self.told.push(ReportLine::Fate(Fate {
            kind: FateKind::Skipped,
            name: place.to_string(),
            detail: reason.to_owned(),
            place: place.to_string(),
            stage: Stage::Before,
            number: None,
        }));
    }

    /// Puts something into the report that is in no counter.
    pub(super) fn warn(&mut self, place: &Place, reason: String) {
        self.note(place, "", reason);
    }

    /// Puts something into the report, with the word of its counter.
    fn note(&mut self, place: &Place, kind: &str, reason: String) {
        self.warnings.push(ImportWarning {
            file: file(place),
            offset: Some(place.offset),
            reason,
            kind: kind.to_owned(),
        });
    }
}

/// The file of a place, with the member of a WACZ.
pub(super) fn file(place: &Place) -> String {
    let file = place.file.to_string_lossy();
    match &place.member {
        Some(member) => format!("{file}!{member}"),
        None => file.into_owned(),
    }
}

const ROWS: usize = 500;
/// Few of them are about documents that lack something; the others are not written.
const ROWS_THAT_TELL: usize = 5000;
/// Three groups are on their way at once, and the bodies of all are to fit into the memory of the `Spool`.
const BYTES: u64 = 12 << 20;
const WARNINGS: usize = 5000;
const TOLD: usize = 10_000;
/// So much work is lost at most when the process is killed.
const PATIENCE: Duration = Duration::from_secs(2);
