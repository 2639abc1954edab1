//! The rows of a result as groups of an import.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use catalog::{Corrected, ImportWarning};
use crawl::Place;

use super::super::examine::{SkipReason, skipped};
use super::super::extraction::entry::Facts;
use super::super::extraction::row::{DOCUMENT, LINK, NOTE, REVISIT, Row};
use super::super::extraction::table::TableReader;
use super::super::extraction::{SOURCE, digest};
use super::super::group::{Content, Group, file};
use super::super::judging::{Judged, Ticket, Verdict};
use super::super::met::Met;
use super::super::spool::{Spool, Spooled};
use super::bytes::DocumentBytes;
use super::results::{SourceResult, refusal};
use crate::Holdings;

/// Makes groups of the rows of one result.
pub(super) struct Groups<'a> {
    one: &'a SourceResult,
    holdings: &'a Holdings,
    spool: &'a Spool<'a>,
    table: TableReader,
    bytes: DocumentBytes,
    /// The next group of rows in the table, and the rows of the one before that were not taken.
    next: usize,
    rows: std::vec::IntoIter<Row>,
    /// How many rows were taken.
    position: u64,
    /// How many rows are known to the catalog.
    skip: u64,
    is_over: bool,
    /// Whether the bytes of documents could not be read.
    pub(super) is_incomplete: bool,
}

impl<'a> Groups<'a> {
    /// Opens a result. All of it has to be as its entry says.
    pub(super) fn open(
        one: &'a SourceResult,
        holdings: &'a Holdings,
        spool: &'a Spool<'a>,
    ) -> anyhow::Result<Self> {
        let path = one.name.table();
        let shown = one.place.shown(&path);
        let Some(table) = one.place.fetch(&path)? else {
            return Err(refusal(&shown, "it is not there; extract it again"));
        };
        let (sha256, size) = digest(&table).with_context(|| format!("`{shown}` cannot be read"))?;
        if sha256 != one.entry.sha256 || size != one.entry.size {
            let reason = "it is damaged, or not the file that its entry is of; remove both, and extract it again";
            return Err(refusal(&shown, reason));
        }
        let table = TableReader::open(table, Path::new(&shown))?;
        let facts: Option<Facts> = table
            .facts()
            .and_then(|facts| serde_json::from_str(facts).ok());
        if facts.as_ref() != Some(&one.entry.facts) {
            return Err(refusal(&shown, "its facts are not those of its entry"));
        }
        Ok(Self {
            bytes: DocumentBytes::open(one)?,
            one,
            holdings,
            spool,
            table,
            next: 0,
            rows: Vec::new().into_iter(),
            position: 0,
            skip: 0,
            is_over: false,
            is_incomplete: false,
        })
    }

    /// Passes over rows that the catalog has.
    pub(super) fn pass_to(&mut self, position: u64) {
        self.skip = position;
    }

    /// The next group; the last one ends the source.
    pub(super) fn next(&mut self, source: usize) -> anyhow::Result<Option<Group>> {
        if self.is_over {
            return Ok(None);
        }
        let mut rows = Vec::new();
        let mut weight = 0;
        while rows.len() < ROWS && weight < BYTES {
            let Some(row) = self.row()? else {
                self.is_over = true;
                break;
            };
            self.position += 1;
            if self.position <= self.skip {
                continue;
            }
            weight += row.size().unwrap_or_default();
            rows.push(row);
        }
        let mut group = Group::new(source, self.position);
        if self.is_over {
            if self.position != self.one.entry.facts.rows {
                bail!(
                    "`{}` has {} rows, and its entry says {}",
                    self.one.name.table(),
                    self.position,
                    self.one.entry.facts.rows
                );
            }
            group.source_done = true;
            group.counters += self.one.entry.facts.read;
        }
        let mut held = self.bytes.of(&rows, self.one, self.spool)?;
        for (at, row) in rows.into_iter().enumerate() {
            self.add(&mut group, row, held.remove(&at))?;
        }
        Ok(Some(group))
    }

    fn row(&mut self) -> anyhow::Result<Option<Row>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(row));
            }
            if self.next >= self.table.groups() {
                return Ok(None);
            }
            self.rows = self.table.group(self.next)?.into_iter();
            self.next += 1;
        }
    }

    /// Adds a row to a group.
    fn add(
        &mut self,
        group: &mut Group,
        mut row: Row,
        held: Option<Result<Spooled, String>>,
    ) -> anyhow::Result<()> {
        let entry = &self.one.entry;
        let place = Place {
            file: PathBuf::from(&entry.path),
            offset: row
                .record_offset
                .and_then(|offset| offset.try_into().ok())
                .unwrap_or_default(),
            member: row.archive.clone(),
        };
        row.reason = row.reason.map(|reason| reason.replace(SOURCE, &entry.path));
        match row.row.as_deref() {
            Some(NOTE) => {
                group.warnings.push(ImportWarning {
                    file: file(&place),
                    offset: row.record_offset.map(|_| place.offset),
                    reason: row.reason.unwrap_or_default(),
                    kind: row.counter.unwrap_or_default(),
                });
                return Ok(());
            }
            Some(DOCUMENT | REVISIT | LINK) => {}
            other => bail!("a row is `{}`, which is nothing known", other.unwrap_or("")),
        }
        let capture = row.capture(place.to_string(), entry.written);
        let capture = capture.map_err(|lack| {
            anyhow::anyhow!("row {} of {} has {lack}", self.position, entry.path)
        })?;
        if row.row.as_deref() != Some(DOCUMENT) {
            group.push(capture, None);
            return Ok(());
        }
        let held = match held.unwrap_or_else(|| Err("its bytes are nowhere".to_owned())) {
            Ok(held) => held,
            Err(reason) => {
                self.is_incomplete = true;
                let left = skipped(SkipReason::Unreadable, reason);
                group.leave(&capture.url, &place, &left);
                return Ok(());
            }
        };
        let met = Met {
            crawler: entry.facts.options.crawler.clone(),
            crawl_date: capture.crawled,
            last_modified: row.last_modified.clone(),
            url: capture.url.clone(),
            parent_url: capture.parent.as_ref().map(|parent| parent.url.clone()),
            depth: capture.depth,
            seed: capture.is_seed,
            declared: capture.declared_type.clone(),
            sniffed: capture.sniffed_type.clone(),
            media_type: capture.media_type.clone(),
            sha1: row.sha1.clone().unwrap_or_default(),
            sha256: row.sha256.clone().unwrap_or_default(),
            size: row.size().unwrap_or_default(),
            member: row.member.clone(),
            source: capture.source.clone(),
            digest_mismatch: row.digest_mismatch.clone(),
            ..Met::default()
        };
        let (held, ticket) = match row.verdict() {
            None => (held, None),
            Some(verdict) => {
                let judged = self.judged(row, verdict, held)?;
                (Spooled::Nothing, Some(Ticket::ready(judged)))
            }
        };
        let content = Content {
            held,
            text: None,
            met,
            place,
            ticket,
        };
        group.push(capture, Some(content));
        Ok(())
    }

    /// The judgement of a document, as the judge of an import would have made it: a librarian's correction counts first.
    fn judged(&self, mut row: Row, verdict: Verdict, held: Spooled) -> anyhow::Result<Judged> {
        let sha1 = row.sha1.as_deref().unwrap_or_default();
        let catalog = self.holdings.catalog();
        let known = self.holdings.wait(catalog.known_content(sha1))?;
        let correction = known.as_ref().and_then(|known| {
            let corrected: &Corrected = known.judgement.corrected.as_ref()?;
            Some(corrected.decision == "accept")
        });
        let is_stored = known.is_some_and(|known| known.is_stored);
        match correction {
            Some(false) => {
                let refused = Verdict::Refused("a librarian rejected it".to_owned());
                return Ok(Judged::without(refused, held));
            }
            Some(true) if is_stored => return Ok(Judged::without(Verdict::Kept, held)),
            _ => {}
        }
        let mut judgement = row.judgement();
        let mut verdict = verdict;
        if correction == Some(true) {
            verdict = Verdict::Kept;
            if let Some(judgement) = &mut judgement {
                judgement.is_aside = false;
            }
        }
        let text = match row.text.take().filter(|text| text.len() <= LONGEST_TEXT) {
            Some(text) => self.spool.hold_text(text).ok(),
            None => None,
        };
        Ok(Judged {
            verdict,
            held,
            text,
            row: judgement,
        })
    }
}

/// No document that an import reads has a longer text.
const LONGEST_TEXT: usize = 256 << 20;
/// Rows and bytes of a group, as those of an import.
const ROWS: usize = 500;
const BYTES: u64 = 12 << 20;
