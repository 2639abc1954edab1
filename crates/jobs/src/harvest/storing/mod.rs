//! Stores what was read: record by record into files, page by page into the catalog.

mod committing;
mod journal;
mod keeping;
mod page;
mod preparing;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::Scope;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use catalog::{Counts, Known, RecordQuery, RecordRow, Validation, Warning};
use harvester::{Header, LeftOut, PageEnd, Quirk, Quirks, Record, Traffic};
use store::RecordFiles;

use self::committing::{Batch, Committer, Ledger};
pub(crate) use self::journal::DIRECTORY as UNFINISHED;
use self::journal::Journal;
pub(super) use self::journal::Place;
use self::keeping::{filtered, knowledge, skipped};
use self::page::Page;
use self::preparing::{Content, Prepared};
pub(super) use self::preparing::{Knowledge, OPEN_FILE, Preparer, Ready};
use super::Progress;
use super::checkpoint::{Checkpoint, Stand};
use super::resources::Resources;
use super::treatment::Treated;
use super::work::Work;

/// Takes records and commits them with the way to the next page.
pub(super) struct Storing<'a> {
    work: &'a Work<'a>,
    files: Arc<RecordFiles>,
    /// Harvests of two sets may go on at once, but not into one directory: files are numbered there.
    _lock: Option<File>,
    resources: Option<Resources<'a>>,
    run: i64,
    pub(super) checkpoint: Checkpoint,
    quirks: Quirks,
    traffic: Traffic,
    preparer: Arc<Preparer<'a>>,
    journal: Journal,
    mirror_directory: Option<PathBuf>,
    /// What has been stored and is not committed yet.
    rows: Vec<RecordRow>,
    dropped: Vec<String>,
    /// What will be known of these records then; nothing of those that are dropped.
    pending: Uncommitted,
    /// The same of batches that were handed over, with their numbers. They go when no record is to come that was looked up
    /// before they were committed.
    recent: VecDeque<(u64, Uncommitted)>,
    /// How many batches were handed over.
    batches: u64,
    committer: Committer,
    /// What was counted up to the last commit that is known to have succeeded.
    counts: Counts,
    /// What each slice's page has brought beside rows. It counts when the page is complete.
    pages: Vec<Page>,
    /// What complete pages have brought that are not committed yet.
    complete: Page,
    /// When the first of them has to be committed at the latest.
    deadline: Option<Instant>,
    /// Until when pages that are complete wait for others.
    next_commit: Instant,
    began: Instant,
    /// What has been said once and need not be said of every record.
    said: HashSet<String>,
}

/// What will be known of records when they are committed.
type Uncommitted = HashMap<String, Option<Known>>;

impl<'a> Storing<'a> {
    pub(super) fn new<'scope>(
        work: &'a Work<'a>,
        scope: &'scope Scope<'scope, '_>,
        resources: Option<Resources<'a>>,
        checkpoint: Checkpoint,
        quirks: Quirks,
    ) -> anyhow::Result<Self>
    where
        'a: 'scope,
    {
        let order = work.order;
        let directory = work
            .holdings
            .record_directory(work.repository, &order.metadata_prefix);
        let files = RecordFiles::open(&directory, order.layout, order.durability)?;
        let files = Arc::new(files);
        let lock = lock(&directory, work.job.is_some())?;
        let place = Place::of(work.holdings, work.repository, &order.metadata_prefix);
        // Without the lock they may be those of a process that goes on.
        if lock.is_some() {
            place.clear(
                work.holdings,
                work.repository,
                &order.metadata_prefix,
                &files,
            )?;
        }
        let committed = Arc::<AtomicU64>::default();
        let ledger = Ledger {
            holdings: work.holdings,
            lease: work.lease,
            files: Arc::clone(&files),
            mirror: resources.as_ref().and_then(Resources::mirror),
            committed: Arc::clone(&committed),
        };
        let (run, counts) = {
            let run = work.lease.lock();
            (run.id(), run.counts())
        };
        let preparer = Preparer {
            holdings: work.holdings,
            treatment: work.treatment,
            repository: work.repository.id,
            metadata_prefix: &order.metadata_prefix,
            run,
            anew: checkpoint.anew,
            files: Arc::clone(&files),
            bodies: resources.as_ref().map(Resources::bodies),
            committed,
        };
        let pages = checkpoint.slices.iter().map(|_| Page::default()).collect();
        Ok(Self {
            work,
            files,
            _lock: lock,
            resources,
            run,
            counts,
            committer: Committer::start(scope, ledger),
            checkpoint,
            quirks,
            traffic: work.client.traffic(),
            preparer: Arc::new(preparer),
            journal: Journal::new(place),
            mirror_directory: order
                .unpack
                .as_deref()
                .map(std::path::absolute)
                .transpose()?,
            rows: Vec::new(),
            dropped: Vec::new(),
            pending: HashMap::new(),
            recent: VecDeque::new(),
            batches: 0,
            pages,
            complete: Page::default(),
            deadline: None,
            next_commit: Instant::now(),
            began: Instant::now(),
            said: HashSet::new(),
        })
    }

    /// For whoever prepares records ahead of their turn.
    pub(super) fn preparer(&self) -> Arc<Preparer<'a>> {
        Arc::clone(&self.preparer)
    }

    /// Takes a record of a slice that nobody has prepared.
    pub(super) fn take_unprepared(&mut self, slice: usize, record: Record) -> anyhow::Result<()> {
        let knowledge = self.preparer.look_up(&[&record.header.identifier])?;
        let ready = self.preparer.prepare(record, &knowledge);
        self.take(slice, ready)
    }

    /// Takes a record of a slice, whose turn it is. Files and resources are written before anything is committed that speaks
    /// of them.
    pub(super) fn take(&mut self, slice: usize, ready: Ready) -> anyhow::Result<()> {
        let page = &mut self.pages[slice];
        let identifier = &ready.header.identifier;
        match &ready.treated {
            Treated::Kept {
                repairs, unchecked, ..
            } => {
                for reason in repairs {
                    page.warn(Some(identifier), reason.clone());
                }
                for reason in unchecked {
                    if self.said.insert(reason.clone()) {
                        page.warn(None, reason.clone());
                    }
                }
            }
            Treated::Filtered => page.counts.filtered += 1,
            Treated::Invalid(reason) => page.warn(Some(identifier), reason.clone()),
            Treated::Deleted | Treated::Gone => {}
        }
        self.store(slice, ready)?;
        if self.rows.len() >= MOST_ROWS {
            // The page is not complete, so it would be read again; its rows would be found to be there.
            self.commit()?;
        }
        Ok(())
    }

    /// Notes that the repository does not have a record any more.
    pub(super) fn gone(&mut self, slice: usize, identifier: &str) -> anyhow::Result<()> {
        let ready = self.preparer.prepare_gone(identifier)?;
        self.store(slice, ready)
    }

    /// Begins a harvest whose WARC files are all its own: what it leaves if it is killed before the first page would be
    /// written again.
    pub(super) fn begin(&mut self) -> anyhow::Result<()> {
        if self.work.order.warc.is_none() {
            return Ok(());
        }
        self.checkpoint.warc = Some(Default::default());
        self.commit()?;
        self.settle()
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

    /// Notes something for the history.
    pub(super) fn note(&mut self, reason: &str) -> anyhow::Result<()> {
        self.complete.warn(None, reason.to_owned());
        self.commit()?;
        self.settle()
    }

    /// Gives up records that are held.
    pub(super) fn drop_all(&mut self, identifiers: &[&str]) -> anyhow::Result<()> {
        let known = self.preparer.look_up(identifiers)?;
        for identifier in identifiers {
            self.may_write()?;
            let header = Header {
                identifier: (*identifier).to_owned(),
                ..Header::default()
            };
            self.drop_record(&header, known.of(identifier))?;
        }
        self.commit()?;
        self.settle()
    }

    /// Commits what came so far for a slice, although its list has not moved on.
    pub(super) fn end_part(&mut self, slice: usize) -> anyhow::Result<()> {
        self.complete.add(std::mem::take(&mut self.pages[slice]));
        self.commit()?;
        self.settle()
    }

    /// Ends a page: its rows, its counts and where to go on are committed together, at once or with the pages that
    /// follow on its heels.
    pub(super) fn end_page(
        &mut self,
        slice: usize,
        page: PageEnd,
        next_from: Option<String>,
    ) -> anyhow::Result<()> {
        self.quirks.merge(page.quirks);
        let stand = &mut self.checkpoint.slices[slice];
        stand.next_from = next_from;
        stand.given = page.given;
        stand.stand = match page.state {
            Some(state) => Stand::Begun(Box::new(state)),
            None => Stand::Done,
        };
        self.complete.add(std::mem::take(&mut self.pages[slice]));
        let deadline = *self.deadline.get_or_insert(self.next_commit);
        // While the disk is busy with a batch, the next one grows.
        if Instant::now() >= deadline && self.committer.is_idle() {
            self.commit()?;
        }
        (self.work.progress)(Progress {
            slice,
            records: page.given,
            complete_list_size: page.complete_list_size,
            counts: self.counts,
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

    /// When there will be something to do although nothing comes; `None` if never.
    pub(super) fn deadline(&mut self) -> Option<Instant> {
        match self.committer.is_idle() {
            true => self.deadline,
            false => Some(Instant::now() + A_MOMENT),
        }
    }

    /// Commits what is complete, now that nothing follows for the moment, unless a batch is on its way. What became of the
    /// last one is known then.
    pub(super) fn rest(&mut self) -> anyhow::Result<()> {
        if !self.committer.is_idle() {
            return Ok(());
        }
        self.settle()?;
        match self.deadline {
            Some(_) => self.commit(),
            None => Ok(()),
        }
    }

    /// Commits what is complete, now that nothing follows at all, and waits for it.
    pub(super) fn end_reading(&mut self) -> anyhow::Result<()> {
        if self.deadline.is_some() {
            self.commit()?;
        }
        self.settle()
    }

    /// Has the whole list read after its slices, if fewer records came than the repository says there are. `true` if so.
    pub(super) fn add_whole(&mut self) -> bool {
        let is_added = self.checkpoint.add_whole();
        if is_added {
            self.quirks.add(Quirk::ListShrank);
            self.pages.push(Page::default());
        }
        is_added
    }

    /// Ends the work when everything is committed.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        if let Some(resources) = self.resources {
            resources.finish()?;
        }
        self.journal.finish();
        Ok(())
    }

    fn store(&mut self, slice: usize, ready: Ready) -> anyhow::Result<()> {
        let Ready {
            header,
            treated,
            known,
            committed,
        } = ready;
        while (self.recent.front()).is_some_and(|(number, _)| *number <= committed) {
            self.recent.pop_front();
        }
        let before = match self.uncommitted(&header.identifier) {
            Some(uncommitted) => uncommitted.clone(),
            None => known,
        };
        let before = before.as_ref();
        if self.is_outdated(&header, before) {
            return Ok(());
        }
        self.may_write()?;
        match treated {
            Treated::Kept {
                content, repairs, ..
            } => {
                let validation = match repairs.is_empty() {
                    true => Validation::Ok,
                    false => Validation::Repaired,
                };
                let unpack = self.resources.is_some();
                let row = match content {
                    Content::Prepared(prepared) => {
                        self.keep(slice, &header, before, *prepared, validation)
                    }
                    Content::Whole(xml, values) => {
                        let mut prepared = Prepared::of(&xml, &values, unpack);
                        prepared.attach(values);
                        self.keep(slice, &header, before, prepared, validation)
                    }
                };
                self.put(row?);
            }
            Treated::Deleted => {
                let row = self.delete(&header, before)?;
                self.put(row);
            }
            Treated::Invalid(_) => self.put(skipped(&header, before)),
            Treated::Filtered if self.work.order.prune => self.drop_record(&header, before)?,
            Treated::Filtered => {
                if let Some(held) = before.filter(|before| !before.deleted) {
                    self.put(filtered(&header, held));
                }
            }
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
        Ok(())
    }

    /// What is stored of a record that may not be committed yet.
    fn uncommitted(&self, identifier: &str) -> Option<&Option<Known>> {
        let recent = self.recent.iter().rev().map(|(_, uncommitted)| uncommitted);
        let mut newest_first = std::iter::once(&self.pending).chain(recent);
        newest_first.find_map(|uncommitted| uncommitted.get(identifier))
    }

    /// Makes sure that the files are still this process's to write.
    fn may_write(&self) -> anyhow::Result<()> {
        match self.work.job {
            Some(job) => Ok(job.pulse.hold(&self.work.client.options().stop)?),
            None => Ok(()),
        }
    }

    /// Puts a row among those to be committed.
    fn put(&mut self, row: RecordRow) {
        let known = Some(knowledge(&row, self.run));
        if self.pending.insert(row.identifier.clone(), known) == Some(None) {
            self.dropped.retain(|dropped| *dropped != row.identifier);
        }
        self.rows.push(row);
    }

    /// Has what is stored committed, and the pages that are complete.
    fn commit(&mut self) -> anyhow::Result<()> {
        // WARC files must not get ahead of a batch that may have failed.
        self.settle()?;
        if let Some(resources) = &mut self.resources
            && let Some(position) = resources.end_captures()?
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
        let batch = Batch {
            rows: std::mem::take(&mut self.rows),
            dropped: std::mem::take(&mut self.dropped),
            warnings,
            counts,
            resume_state: self.checkpoint.text()?,
            quirks: serde_json::to_string(&self.quirks)?,
        };
        self.committer.hand_over(batch)?;
        self.journal.turn()?;
        self.batches += 1;
        let pending = std::mem::take(&mut self.pending);
        self.recent.push_back((self.batches, pending));
        self.deadline = None;
        // Who is killed loses a third of what it did at most, so that it gets on even if it is killed again and again.
        self.next_commit = Instant::now() + LONGEST_WAIT.min(self.began.elapsed() / 2);
        Ok(())
    }

    /// Waits until all is committed that was handed over.
    fn settle(&mut self) -> anyhow::Result<()> {
        let counted = self.committer.wait()?;
        self.counts = counted.unwrap_or(self.counts);
        Ok(())
    }
}

/// Takes a directory for this process.
///
/// For a job the catalog has seen to it that nobody else harvests the repository. If the lock is held nevertheless, it
/// is by a process that lost the job and does not know yet: it notices in a moment, or it is stopped, and then it asks
/// before it writes.
fn lock(directory: &Path, for_job: bool) -> anyhow::Result<Option<File>> {
    let opened = File::open(directory);
    let opened = opened.with_context(|| format!("{} cannot be opened", directory.display()))?;
    let give_up = Instant::now() + LONGEST_LOCK;
    loop {
        match opened.try_lock() {
            Err(TryLockError::WouldBlock) if !for_job => bail!(
                "another harvest is writing into {}; wait for it, or stop it",
                directory.display()
            ),
            Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Some network file systems know no locks.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(Some(opened)),
        }
    }
}

/// As many are committed at once, if a page is longer.
const MOST_ROWS: usize = 5000;
/// How often it is asked whether a batch is committed, if there is nothing else to do.
const A_MOMENT: Duration = Duration::from_millis(10);
/// So long a process that lost its job may take to notice.
const LONGEST_LOCK: Duration = Duration::from_secs(3);
/// So long a page may wait for others, to be committed together with them.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
