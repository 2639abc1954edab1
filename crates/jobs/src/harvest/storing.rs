//! Stores what was read: record by record into files, page by page into the catalog.

use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use catalog::{Counts, Known, Outcome, PageCommit, RecordQuery, RecordRow, Validation, Warning};
use harvester::unpack::{self, Resource};
use harvester::{Header, LeftOut, PageEnd, Quirks, Record, Traffic};
use store::RecordFiles;

use super::checkpoint::{Checkpoint, Stand};
use super::resources::{Missing, Resources};
use super::treatment::Treated;
use super::work::Work;
use super::{Deleted, Progress, digest, now};

/// Takes records and commits them with the way to the next page.
pub(super) struct Storing<'a> {
    work: &'a Work<'a>,
    files: RecordFiles,
    /// Harvests of two sets may go on at once, but not into one directory: files are numbered there.
    _lock: File,
    resources: Option<Resources<'a>>,
    run: i64,
    pub(super) checkpoint: Checkpoint,
    quirks: Quirks,
    traffic: Traffic,
    /// What has come and is not stored yet.
    waiting: Vec<Waiting>,
    waiting_bytes: usize,
    /// What has been stored and is not committed yet.
    rows: Vec<RecordRow>,
    dropped: Vec<String>,
    /// What will be known of these records then; nothing of those that are dropped.
    pending: HashMap<String, Option<Known>>,
    /// What each slice's page has brought beside rows. It counts when the page is complete.
    pages: Vec<Page>,
    /// What complete pages have brought that are not committed yet.
    complete: Page,
    /// Whether there are such pages, and when others were committed last.
    uncommitted: bool,
    committed_at: Option<Instant>,
    /// What has been said once and need not be said of every record.
    said: HashSet<String>,
}

/// A record that is to be stored.
struct Waiting {
    slice: usize,
    header: Header,
    treated: Treated,
}

/// What a page brings beside rows.
#[derive(Default)]
struct Page {
    counts: Counts,
    warnings: Vec<Warning>,
    unnamed: u64,
}

impl<'a> Storing<'a> {
    pub(super) fn new(
        work: &'a Work<'a>,
        resources: Option<Resources<'a>>,
        checkpoint: Checkpoint,
        quirks: Quirks,
    ) -> anyhow::Result<Self> {
        let order = work.order;
        let directory = work
            .holdings
            .record_directory(work.repository, &order.metadata_prefix);
        let files = RecordFiles::open(&directory, order.layout, order.durability)?;
        let pages = checkpoint.slices.iter().map(|_| Page::default()).collect();
        Ok(Self {
            work,
            files,
            _lock: lock(&directory)?,
            resources,
            run: work.lease.lock().id(),
            checkpoint,
            quirks,
            traffic: work.client.traffic(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            rows: Vec::new(),
            dropped: Vec::new(),
            pending: HashMap::new(),
            pages,
            complete: Page::default(),
            uncommitted: false,
            committed_at: None,
            said: HashSet::new(),
        })
    }

    /// Takes a record of a slice.
    pub(super) fn take(&mut self, slice: usize, record: Record) -> anyhow::Result<()> {
        let header = record.header.clone();
        // A deleted record has nothing to be looked at, and filtering it would lose the deletion.
        let treated = match header.deleted {
            true => Treated::Kept {
                xml: Vec::new(),
                repairs: Vec::new(),
                unchecked: Vec::new(),
            },
            false => self.work.treatment.apply(record),
        };
        let page = &mut self.pages[slice];
        match &treated {
            Treated::Kept {
                xml,
                repairs,
                unchecked,
            } => {
                self.waiting_bytes += xml.len();
                for reason in repairs {
                    page.warn(Some(&header.identifier), reason.clone());
                }
                for reason in unchecked {
                    if self.said.insert(reason.clone()) {
                        page.warn(None, reason.clone());
                    }
                }
            }
            Treated::Filtered => page.counts.filtered += 1,
            Treated::Invalid(reason) => page.warn(Some(&header.identifier), reason.clone()),
            Treated::Gone => {}
        }
        self.waiting.push(Waiting {
            slice,
            header,
            treated,
        });
        if self.waiting.len() >= MOST_WAITING || self.waiting_bytes >= MOST_BYTES {
            self.store()?;
        }
        if self.rows.len() >= MOST_ROWS {
            // The page is not complete, so it would be read again; its rows would be found to be there.
            self.commit()?;
        }
        Ok(())
    }

    /// Notes that the repository does not have a record any more.
    pub(super) fn gone(&mut self, slice: usize, identifier: &str) {
        self.waiting.push(Waiting {
            slice,
            header: Header {
                identifier: identifier.to_owned(),
                deleted: true,
                ..Header::default()
            },
            treated: Treated::Gone,
        });
    }

    /// Begins a harvest whose WARC files are all its own: what it leaves if it is killed before the first page would be
    /// written again.
    pub(super) fn begin(&mut self) -> anyhow::Result<()> {
        if self.work.order.warc.is_none() {
            return Ok(());
        }
        self.checkpoint.warc = Some(Default::default());
        self.commit()
    }

    /// Notes a record that could not be had.
    pub(super) fn leave_out(&mut self, slice: usize, left_out: LeftOut) {
        let page = &mut self.pages[slice];
        let reason = match (&left_out.identifier, left_out.dates) {
            (None, Some((from, until))) => {
                format!("records between {from} and {until}: {}", left_out.reason)
            }
            _ => left_out.reason,
        };
        page.lose(left_out.identifier.as_deref(), reason);
    }

    /// Commits what came so far for a slice, although its list has not moved on.
    pub(super) fn end_part(&mut self, slice: usize) -> anyhow::Result<()> {
        self.store()?;
        self.complete.add(std::mem::take(&mut self.pages[slice]));
        self.commit()
    }

    /// Ends a page: its rows, its counts and where to go on are committed together, at once or with the pages that
    /// follow on its heels.
    pub(super) fn end_page(
        &mut self,
        slice: usize,
        page: PageEnd,
        next_from: Option<String>,
    ) -> anyhow::Result<()> {
        self.store()?;
        self.quirks.merge(page.quirks);
        let stand = &mut self.checkpoint.slices[slice];
        stand.next_from = next_from;
        stand.stand = match page.state {
            Some(state) => Stand::Begun(Box::new(state)),
            None => Stand::Done,
        };
        self.complete.add(std::mem::take(&mut self.pages[slice]));
        self.uncommitted = true;
        if self
            .committed_at
            .is_none_or(|at| at.elapsed() >= LONGEST_WAIT)
        {
            self.commit()?;
        }
        (self.work.progress)(Progress {
            slice,
            records: page.given,
            complete_list_size: page.complete_list_size,
            counts: self.work.lease.lock().counts(),
        });
        Ok(())
    }

    /// Some records that this harvest has not seen, behind the one with a number, with the number of the last.
    pub(super) fn unseen(&self, after: i64) -> anyhow::Result<Option<(Vec<String>, i64)>> {
        let query = RecordQuery {
            repository: Some(self.work.repository.id),
            metadata_prefix: Some(self.work.order.metadata_prefix.clone()),
            deleted: Some(false),
            not_seen_by: Some(self.run),
            after,
            ..RecordQuery::default()
        };
        let unseen = self
            .work
            .holdings
            .wait(self.work.holdings.catalog().records(&query))?;
        let last = unseen.last().map(|record| record.id);
        let identifiers = unseen.into_iter().map(|record| record.identifier).collect();
        Ok(last.map(|last| (identifiers, last)))
    }

    /// Commits what is complete, now that nothing follows for the moment.
    pub(super) fn rest(&mut self) -> anyhow::Result<()> {
        match self.uncommitted {
            true => self.commit(),
            false => Ok(()),
        }
    }

    /// Ends the work when everything is committed.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self.resources {
            Some(resources) => resources.finish(),
            None => Ok(()),
        }
    }

    /// Stores what waits. Files and resources are written before anything is committed that speaks of them.
    fn store(&mut self) -> anyhow::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        if waiting.is_empty() {
            return Ok(());
        }
        let identifiers: Vec<_> = waiting
            .iter()
            .map(|waiting| &*waiting.header.identifier)
            .collect();
        let catalog = self.work.holdings.catalog();
        let (id, prefix) = (self.work.repository.id, &self.work.order.metadata_prefix);
        let mut known = self
            .work
            .holdings
            .wait(catalog.known(id, prefix, &identifiers))?;
        for Waiting {
            slice,
            header,
            treated,
        } in waiting
        {
            let before = match self.pending.get(&header.identifier) {
                Some(pending) => pending.clone(),
                None => known.remove(&header.identifier),
            };
            let before = before.as_ref();
            match treated {
                Treated::Kept { .. } if header.deleted => {
                    let row = self.delete(&header, before)?;
                    self.put(row);
                }
                Treated::Kept { xml, repairs, .. } => {
                    let validation = match repairs.is_empty() {
                        true => Validation::Ok,
                        false => Validation::Repaired,
                    };
                    let row = self.keep(slice, &header, before, &xml, validation)?;
                    self.put(row);
                }
                Treated::Invalid(_) => self.put(skipped(&header, before)),
                Treated::Filtered => self.drop_record(&header, before)?,
                Treated::Gone => {
                    if let Some(before) = before.filter(|before| !before.deleted) {
                        let row = self.delete(&header, Some(before))?;
                        self.put(RecordRow {
                            datestamp: before.datestamp,
                            ..row
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts a row among those to be committed.
    fn put(&mut self, row: RecordRow) {
        let known = Some(knowledge(&row, self.run));
        if self.pending.insert(row.identifier.clone(), known) == Some(None) {
            self.dropped.retain(|dropped| *dropped != row.identifier);
        }
        self.rows.push(row);
    }

    /// Keeps a record: its resources, its file, its row.
    fn keep(
        &mut self,
        slice: usize,
        header: &Header,
        before: Option<&Known>,
        xml: &[u8],
        validation: Validation,
    ) -> anyhow::Result<RecordRow> {
        let mut row = row(header, validation);
        let Some(resources) = &mut self.resources else {
            self.write(header, before, xml, &mut row)?;
            return Ok(row);
        };
        let found = match unpack::resources(xml) {
            Ok(found) => found,
            Err(error) => {
                self.pages[slice].lose(Some(&header.identifier), error.to_string());
                self.write(header, before, xml, &mut row)?;
                return Ok(row);
            }
        };
        // The bytes are in the mirror or in the WARC file; here they would only be there twice. Where the record tells
        // no digests of them, only they themselves tell whether they are the same.
        let told = |resource: &Resource| resource.value.is_none() || !resource.digests.is_empty();
        let digest = match found.iter().all(told) {
            true => None,
            false => Some(digest::of_record(xml)),
        };
        let xml = unpack::without_values(xml, &found);
        let digest = digest.unwrap_or_else(|| digest::of_record(&xml));
        row.sha256 = Some(digest);
        // What this harvest has written already is there, also where everything is written anew.
        let is_there = |before: &Known| !self.checkpoint.anew || before.run == self.run;
        if before.is_some_and(|before| is_unchanged(before, &row) && is_there(before)) {
            self.write(header, before, &xml, &mut row)?;
            return Ok(row);
        }
        for url in urls_before(&self.files, before) {
            if !found.iter().any(|resource| resource.url == url) {
                resources.remove(&url)?;
            }
        }
        let mut complete = true;
        for resource in &found {
            match resources.keep(resource) {
                Ok(()) => {}
                Err(Missing::Lost(reason)) => {
                    self.pages[slice].lose(Some(&header.identifier), reason);
                    complete = false;
                }
                Err(Missing::Fatal(error)) => return Err(error),
            }
        }
        self.write(header, before, &xml, &mut row)?;
        if !complete {
            // When it comes again it is not taken for one of which everything is there.
            row.sha256 = None;
        }
        Ok(row)
    }

    /// Writes the file of a record, unless it is there already. A harvest that makes everything anew looks into it.
    fn write(
        &self,
        header: &Header,
        before: Option<&Known>,
        xml: &[u8],
        row: &mut RecordRow,
    ) -> anyhow::Result<()> {
        let digest = row.sha256.get_or_insert_with(|| digest::of_record(xml));
        let known =
            before.filter(|before| !before.deleted && before.sha256.as_ref() == Some(digest));
        let file = before.and_then(|before| before.file.as_deref());
        if let Some(file) = known.and(file) {
            let place = self.files.absolute(file);
            let is_there = match self.checkpoint.anew {
                true => std::fs::read(place)
                    .is_ok_and(|held| digest::of_record(&held) == digest::of_record(xml)),
                false => place.exists(),
            };
            if is_there {
                row.file = Some(file.to_owned());
                return Ok(());
            }
        }
        row.file = Some(self.files.write(&header.identifier, file, xml)?);
        Ok(())
    }

    /// Removes what a deleted record had, and keeps the tombstone.
    fn delete(&mut self, header: &Header, before: Option<&Known>) -> anyhow::Result<RecordRow> {
        let mut row = row(header, Validation::Ok);
        self.remove_resources(&header.identifier, before)?;
        let Some(file) = before.and_then(|before| before.file.as_deref()) else {
            return Ok(row);
        };
        match self.work.order.deleted {
            Deleted::Remove => self.files.remove(file)?,
            Deleted::Keep => row.file = self.files.mark_deleted(file)?,
        }
        Ok(row)
    }

    /// Gives up a record that the filters do not want any more.
    fn drop_record(&mut self, header: &Header, before: Option<&Known>) -> anyhow::Result<()> {
        let Some(before) = before else {
            return Ok(());
        };
        self.remove_resources(&header.identifier, Some(before))?;
        if let Some(file) = &before.file {
            self.files.remove(file)?;
        }
        self.rows.retain(|row| row.identifier != header.identifier);
        self.pending.insert(header.identifier.clone(), None);
        self.dropped.push(header.identifier.clone());
        Ok(())
    }

    fn remove_resources(&self, identifier: &str, before: Option<&Known>) -> anyhow::Result<()> {
        let Some(resources) = &self.resources else {
            return Ok(());
        };
        let urls = urls_before(&self.files, before);
        if urls.is_empty() {
            // Where identifiers are URLs, that is enough to know.
            return resources.remove(identifier);
        }
        urls.iter().try_for_each(|url| resources.remove(url))
    }

    /// Commits what is stored, and the pages that are complete.
    fn commit(&mut self) -> anyhow::Result<()> {
        self.files.sync()?;
        if let Some(resources) = &mut self.resources
            && let Some(position) = resources.sync()?
        {
            self.checkpoint.set_position(position);
        }
        let Page {
            mut counts,
            mut warnings,
            unnamed,
        } = std::mem::take(&mut self.complete);
        if unnamed > 0 {
            let reason = format!("{unnamed} further warnings on this page are not listed");
            warnings.push(Warning {
                identifier: None,
                reason,
                lost: false,
            });
        }
        let now = self.work.client.traffic();
        counts.requests = now.requests - self.traffic.requests;
        counts.bytes = now.bytes - self.traffic.bytes;
        self.traffic = now;
        let state = self.checkpoint.text()?;
        let quirks = serde_json::to_string(&self.quirks)?;
        let page = PageCommit {
            rows: &self.rows,
            dropped: &self.dropped,
            resume_state: Some(&state),
            counts,
            warnings: &warnings,
            quirks: Some(&quirks),
        };
        let mut run = self.work.lease.lock();
        let _: Vec<Outcome> = self
            .work
            .holdings
            .wait(self.work.holdings.catalog().commit_page(&mut run, page))
            .context("a page cannot be committed")?;
        self.rows.clear();
        self.dropped.clear();
        self.pending.clear();
        self.uncommitted = false;
        self.committed_at = Some(Instant::now());
        Ok(())
    }
}

impl Page {
    fn add(&mut self, other: Self) {
        self.counts += other.counts;
        self.warnings.extend(other.warnings);
        self.unnamed += other.unnamed;
    }

    /// Something could not be had.
    fn lose(&mut self, identifier: Option<&str>, reason: String) {
        self.counts.failed += 1;
        self.note(identifier, reason, true);
    }

    /// Something is worth knowing.
    fn warn(&mut self, identifier: Option<&str>, reason: String) {
        self.note(identifier, reason, false);
    }

    fn note(&mut self, identifier: Option<&str>, reason: String, lost: bool) {
        // What is lost is asked for again by what stands here, so none of it is left out.
        if self.warnings.len() >= MOST_WARNINGS && !lost {
            self.unnamed += 1;
            return;
        }
        self.warnings.push(Warning {
            identifier: identifier.map(str::to_owned),
            reason,
            lost,
        });
    }
}

/// Takes a directory for this process.
fn lock(directory: &Path) -> anyhow::Result<File> {
    let opened = File::open(directory);
    let opened = opened.with_context(|| format!("{} cannot be opened", directory.display()))?;
    match opened.try_lock() {
        Err(TryLockError::WouldBlock) => bail!(
            "another harvest is writing into {}; wait for it, or stop it",
            directory.display()
        ),
        // Some network file systems know no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(opened),
    }
}

fn row(header: &Header, validation: Validation) -> RecordRow {
    RecordRow {
        identifier: header.identifier.clone(),
        datestamp: header.moment().map(|moment| moment.seconds()),
        deleted: header.deleted,
        file: None,
        sha256: None,
        set_specs: header.set_specs.clone(),
        harvested: now(),
        validation,
    }
}

/// A record that may not be kept. What is held of it from before stays.
fn skipped(header: &Header, before: Option<&Known>) -> RecordRow {
    let held = before.filter(|before| !before.deleted);
    RecordRow {
        file: held.and_then(|held| held.file.clone()),
        sha256: held.and_then(|held| held.sha256.clone()),
        ..row(header, Validation::Skipped)
    }
}

fn knowledge(row: &RecordRow, run: i64) -> Known {
    Known {
        datestamp: row.datestamp,
        deleted: row.deleted,
        file: row.file.clone(),
        sha256: row.sha256.clone(),
        validation: row.validation,
        run,
    }
}

fn is_unchanged(before: &Known, row: &RecordRow) -> bool {
    !before.deleted && before.datestamp == row.datestamp && before.sha256 == row.sha256
}

/// The URLs of the resources that a record spoke of when it was last harvested.
fn urls_before(files: &RecordFiles, before: Option<&Known>) -> Vec<String> {
    let file = before.and_then(|before| before.file.as_deref());
    let Some(xml) = file.and_then(|file| std::fs::read(files.absolute(file)).ok()) else {
        return Vec::new();
    };
    let found = unpack::resources(&xml).unwrap_or_default();
    found.into_iter().map(|resource| resource.url).collect()
}

/// As many records are looked up in the catalog at once.
const MOST_WAITING: usize = 500;
const MOST_BYTES: usize = 4 << 20;
/// As many are committed at once, if a page is longer.
const MOST_ROWS: usize = 5000;
/// So long a page may wait for others, to be committed together with them.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// As many warnings of a page are kept.
const MOST_WARNINGS: usize = 10_000;
