//! Keeps the documents of a group: files first, then the rows that speak of them, in one transaction with the counters
//! and the position.

pub(super) mod lacking;
mod taken_down;
pub(super) mod unsaved;

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use catalog::{
    CaptureOutcome, CaptureRow, ContentRow, GroupCommit, GroupOutcome, Import, ImportCounters,
    ImportWarning, JudgementRow, Placement, SourcePosition,
};
use harvester::Stop;
use store::Collection;
use text::Outcome;

use self::unsaved::Unsaved;
use super::events::{Fate, FateKind, Stage};
use super::flow::{Kept, Start};
use super::group::resolve::is_text;
use super::group::{Content, Group, ReportLine};
use super::judging::Judge;
use super::review;
use super::spool::Spooled;
use crate::Holdings;
use crate::pulse::Pulse;

/// A catalog and a collection that documents go into.
pub(super) struct Keeping<'a> {
    pub(super) holdings: &'a Holdings,
    pub(super) collection: &'a Collection,
    import: Mutex<Import>,
    /// How many documents could not be saved before this process went on with it.
    unsaved_before: u64,
    /// The pulse of the job, if it is one: who was not heard of writes no file.
    pulse: Option<(&'a Pulse, &'a Stop)>,
    last_beat: Mutex<Instant>,
    /// Reads documents for their text, if that is wanted.
    judge: Option<&'a Judge<'a>>,
    /// Revisits of what was not known when they came: the MD5 of their URL, the URL and the place.
    revisits: Mutex<Vec<[String; 3]>>,
}

impl<'a> Keeping<'a> {
    pub(super) fn new(
        holdings: &'a Holdings,
        collection: &'a Collection,
        import: Import,
        pulse: Option<(&'a Pulse, &'a Stop)>,
    ) -> Self {
        Self {
            holdings,
            collection,
            unsaved_before: import.counters().failed_save,
            import: Mutex::new(import),
            pulse,
            last_beat: Mutex::new(Instant::now()),
            judge: None,
            revisits: Mutex::default(),
        }
    }

    /// Lets documents be read for their text.
    pub(super) fn with_judge(self, judge: Option<&'a Judge<'a>>) -> Self {
        Self { judge, ..self }
    }

    /// Stores what is new in a group and commits it. Returns what became of each, in the order of the source.
    pub(super) fn keep(&self, mut group: Group) -> anyhow::Result<Kept> {
        if group.only_tells {
            lacking::retain(self.holdings, &mut group)?;
        }
        taken_down::skip(self.holdings, &mut group)?;
        review::keep(self, &mut group)?;
        let (outcome, counters) = self.commit(&mut group)?;
        let Group { rows, told, .. } = group;
        self.remember_revisits(&rows, &outcome.outcomes);
        // Nothing speaks of these any more.
        if !outcome.superfluous.is_empty() {
            self.hold()?;
        }
        for content in &outcome.superfluous {
            self.collection.remove(content.number, &content.extension)?;
        }
        let fates = fates(told, &rows, &outcome.outcomes, &outcome.documents);
        Ok((fates, counters))
    }

    /// Stores what is new in a group and commits it. A cleaning may remove a document meanwhile that the group counted on:
    /// then its bytes are stored after all.
    fn commit(&self, group: &mut Group) -> anyhow::Result<(GroupOutcome, ImportCounters)> {
        let mut left = MOST_RESERVATIONS;
        loop {
            let placements = self.store(group)?;
            self.collection.sync()?;
            let commit = GroupCommit {
                rows: &group.rows,
                placements: &placements,
                source: group.source,
                position: group.position,
                source_done: group.source_done,
                counters: group.counters,
                warnings: &group.warnings,
                judgements: &group.judgements,
            };
            let catalog = self.holdings.catalog();
            let mut import = self.lock();
            let committed = self
                .holdings
                .wait(catalog.commit_group(&mut import, commit));
            match committed {
                Err(catalog::Error::NotReserved { .. }) if left > 0 => left -= 1,
                committed => return Ok((committed?, import.counters())),
            }
        }
    }

    /// Stores what is new in a group, and tells what was done with the bytes of each row. What cannot be saved is taken
    /// out of the group; then something else may be the newest of its URL, so that the catalog is asked once more.
    fn store(&self, group: &mut Group) -> anyhow::Result<Vec<Placement>> {
        loop {
            if group.rows.is_empty() {
                return Ok(Vec::new());
            }
            let mut import = self.lock();
            let placements = self.holdings.catalog().reserve(&mut import, &group.rows);
            let placements = self.holdings.wait(placements)?;
            let before = import.counters().failed_save - self.unsaved_before;
            drop(import);
            let mut unsaved = Unsaved::default();
            for (at, placement) in placements.iter().enumerate() {
                let Placement::Store { number } = placement else {
                    continue;
                };
                // One without a content was saved in the round before, under the number that is reserved for it.
                if let Some(mut content) = group.contents[at].take() {
                    self.hold()?;
                    self.complete(&group.rows[at], &group.judgements, &mut content)?;
                    let row = (at, &group.rows[at]);
                    unsaved.save(self.collection, row, *number, content, &mut group.warnings)?;
                }
            }
            if unsaved.is_empty() {
                return Ok(placements);
            }
            unsaved.add_copies(&group.rows);
            unsaved.count(&mut group.counters, before)?;
            unsaved.leave_out(&mut group.rows, &mut group.contents, &mut group.told);
        }
    }

    /// Reads a document whose text was not read because it was stored, and is gone by now: the last document with these
    /// bytes got others meanwhile.
    fn complete(
        &self,
        row: &CaptureRow,
        judgements: &[JudgementRow],
        content: &mut Content,
    ) -> anyhow::Result<()> {
        let (Some(judge), ContentRow::Bytes { sha1, .. }) = (self.judge, &row.content) else {
            return Ok(());
        };
        let is_judged = |judgement: &JudgementRow| {
            judgement.sha1 == *sha1 && judgement.outcome == Outcome::Text.to_string()
        };
        if content.text.is_none() && !is_text(row) && judgements.iter().any(is_judged) {
            content.text = judge.text_of(&content.held, &row.media_type)?;
        }
        Ok(())
    }

    fn remember_revisits(&self, rows: &[CaptureRow], outcomes: &[CaptureOutcome]) {
        let mut revisits = self.revisits.lock().unwrap_or_else(PoisonError::into_inner);
        for (row, outcome) in rows.iter().zip(outcomes) {
            let is_revisit = matches!(row.content, ContentRow::Revisit { .. });
            let is_unknown = *outcome == CaptureOutcome::RevisitUnknown;
            if is_revisit && is_unknown && revisits.len() < REVISITS {
                revisits.push([&row.md5, &row.url, &row.source].map(Clone::clone));
            }
        }
    }

    /// Names the revisits whose original no import has brought, and counts them.
    pub(super) fn name_revisits(&self) -> anyhow::Result<u64> {
        let revisits =
            std::mem::take(&mut *self.revisits.lock().unwrap_or_else(PoisonError::into_inner));
        let mut count = 0;
        for revisits in revisits.chunks(1000) {
            let named: Vec<_> = revisits.iter().map(|[md5, ..]| md5.as_str()).collect();
            let known = self.holdings.catalog().with_content(&named);
            let known = self.holdings.wait(known)?;
            let unknown = revisits.iter().filter(|[md5, ..]| !known.contains(md5));
            let warnings: Vec<_> = unknown
                .map(|[_, url, source]| unresolved(url, source))
                .collect();
            count += warnings.len() as u64;
            if !warnings.is_empty() {
                self.note(ImportCounters::default(), &warnings)?;
            }
        }
        Ok(count)
    }

    /// Counts what has to do with no source.
    pub(super) fn count(&self, counters: ImportCounters) -> anyhow::Result<()> {
        self.note(counters, &[])
    }

    /// Writes what has to do with no source.
    fn note(&self, counters: ImportCounters, warnings: &[ImportWarning]) -> anyhow::Result<()> {
        let mut import = self.lock();
        let first = import.positions().first();
        let (position, source_done) = first.map_or((0, true), |at| (at.position, at.done));
        let commit = GroupCommit {
            rows: &[],
            placements: &[],
            source: 0,
            position,
            source_done,
            counters,
            warnings,
            judgements: &[],
        };
        let catalog = self.holdings.catalog();
        self.holdings
            .wait(catalog.commit_group(&mut import, commit))?;
        Ok(())
    }

    /// Waits until it is sure that files may be written.
    pub(super) fn hold(&self) -> anyhow::Result<()> {
        match self.pulse {
            Some((pulse, stop)) => Ok(pulse.hold(stop)?),
            None => Ok(()),
        }
    }

    /// Where each source is gone on with.
    pub(super) fn starts(&self) -> Vec<Start> {
        let import = self.lock();
        let positions = import.positions().iter();
        let start = |at: &SourcePosition| (!at.done).then_some(at.position);
        positions.map(start).collect()
    }

    /// Renews the lease now and then, where a group takes long. Who lost it stops.
    pub(super) fn beat(&self, stop: &Stop) {
        // The lease of a job is kept by the process that has it, and that of its import follows it.
        if self.pulse.is_some() {
            return;
        }
        let Ok(import) = self.import.try_lock() else {
            // A group is being committed, which renews it.
            return;
        };
        let mut last = self
            .last_beat
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < BEAT {
            return;
        }
        *last = Instant::now();
        let renewed = self
            .holdings
            .wait(self.holdings.catalog().beat_import(&import));
        // A database that is away for a moment is noticed by who commits.
        if let Err(catalog::Error::ImportLost { .. }) = renewed {
            stop.set();
        }
    }

    pub(super) fn into_import(self) -> Import {
        let import = self.import.into_inner();
        import.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Import> {
        self.import.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The message on a revisit whose original is nowhere.
fn unresolved(url: &str, source: &str) -> ImportWarning {
    let (file, offset) = source.rsplit_once(" at offset ").unwrap_or((source, ""));
    ImportWarning {
        file: file.to_owned(),
        offset: offset.parse().ok(),
        reason: format!(
            "{url}: a revisit whose original is not found by its digest; import the original"
        ),
        kind: "revisits".to_owned(),
    }
}

/// Puts a document, its `.met` file and its text in their places.
pub(super) fn place(
    collection: &Collection,
    number: i64,
    extension: &str,
    content: Content,
) -> anyhow::Result<()> {
    let file = match content.held {
        Spooled::File(file) => file,
        Spooled::Memory(bytes, _share) => {
            let mut file = collection.create()?;
            file.write_all(&bytes)
                .with_context(|| format!("document {number} cannot be written"))?;
            file
        }
        Spooled::Nothing => return Ok(()),
    };
    collection.place(number, extension, file)?;
    collection.write_metadata(number, extension, &content.met.to_xml())?;
    match content.text {
        Some(Spooled::File(file)) => {
            collection.place_text(number, file)?;
        }
        Some(Spooled::Memory(text, _share)) => {
            collection.write_text(number, &text)?;
        }
        Some(Spooled::Nothing) | None => {}
    }
    Ok(())
}

/// How the name of a document's file ends.
pub(super) fn extension(row: &CaptureRow) -> &str {
    match &row.content {
        ContentRow::Bytes { extension, .. } => extension,
        ContentRow::Revisit { .. } | ContentRow::EdgeOnly => "",
    }
}

/// The fate of each row, in the order of the source. `numbers` are those of the documents.
pub(super) fn fates(
    told: Vec<ReportLine>,
    rows: &[CaptureRow],
    outcomes: &[CaptureOutcome],
    numbers: &[Option<i64>],
) -> Vec<Fate> {
    let fates = told.into_iter().filter_map(|told| match told {
        ReportLine::Fate(fate) => Some(fate),
        ReportLine::Row(at) => fate(&rows[at], *outcomes.get(at)?, *numbers.get(at)?),
    });
    fates.collect()
}

/// The fate of a row, for people; `None` for an edge or a revisit that arrives after its document.
fn fate(row: &CaptureRow, outcome: CaptureOutcome, number: Option<i64>) -> Option<Fate> {
    let kind = match outcome {
        CaptureOutcome::New => FateKind::New,
        CaptureOutcome::NewUrl => FateKind::KnownContent,
        CaptureOutcome::NewVersion => FateKind::NewVersion,
        CaptureOutcome::Older | CaptureOutcome::Unchanged => FateKind::Duplicate,
        CaptureOutcome::Revisited => FateKind::Revisited,
        CaptureOutcome::RevisitUnknown => return None,
    };
    if matches!(row.content, ContentRow::EdgeOnly) {
        return None;
    }
    let name = match &row.member {
        Some(member) => format!("{}#{member}", row.url),
        None => row.url.clone(),
    };
    let media_type = row.media_type.as_str();
    let detail = match (number, media_type) {
        (Some(number), "") => number.to_string(),
        (Some(number), media_type) => format!("{number}, {media_type}"),
        (None, media_type) => media_type.to_owned(),
    };
    Some(Fate {
        kind,
        name,
        detail,
        place: row.source.clone(),
        stage: Stage::Kept,
        number,
    })
}

const BEAT: Duration = Duration::from_secs(20);
/// How often a group is reserved anew, because documents were removed that it counted on.
const MOST_RESERVATIONS: u32 = 10;

/// How many revisits are remembered to be named.
const REVISITS: usize = 100_000;
