//! Stores what was read: record by record into files, page by page into the catalog.
//!
//! [`Placing`] gives files their places, [`Pending`] holds what is not committed, [`Pace`] decides when to commit, and the
//! [`Committer`] commits.

mod committing;
mod journal;
mod pace;
mod page;
mod pending;
mod placing;
mod preparing;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::Scope;
use std::time::{Duration, Instant};

use catalog::{Counts, Known, RecordQuery, RecordRow, Validation};
use harvester::{Header, LeftOut, Quirk, Quirks, Record, Traffic};

use self::committing::{Batch, Committer, Ledger};
pub(crate) use self::journal::DIRECTORY as UNFINISHED;
pub(super) use self::journal::Place;
use self::pace::Pace;
use self::page::Page;
use self::pending::{Pending, Taken};
use self::placing::{Placing, filtered, skipped, unchanged};
use self::preparing::Content;
pub(super) use self::preparing::{Knowledge, OPEN_FILE, Preparer, Ready};
use super::Progress;
use super::checkpoint::Checkpoint;
use super::reading::PageReport;
use super::resources::Resources;
use super::treatment::Treated;
use super::work::Work;
use crate::records::compact_if_due;

/// Takes records and commits them with the way to the next page.
pub(super) struct Storing<'a> {
    work: &'a Work<'a>,
    run: i64,
    pub(super) checkpoint: Checkpoint,
    quirks: Quirks,
    traffic: Traffic,
    preparer: Arc<Preparer<'a>>,
    placing: Placing<'a>,
    pending: Pending,
    pace: Pace,
    committer: Committer,
    /// The counts up to the last commit that is known to have succeeded.
    counts: Counts,
}

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
        let bodies = resources.as_ref().map(Resources::bodies);
        let mirror = resources.as_ref().and_then(Resources::mirror);
        let placing = Placing::open(work, resources, checkpoint.anew)?;
        let committed = Arc::<AtomicU64>::default();
        let ledger = Ledger {
            holdings: work.holdings,
            lease: work.lease,
            files: placing.files(),
            mirror,
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
            metadata_prefix: &work.order.metadata_prefix,
            run,
            anew: checkpoint.anew,
            files: placing.files(),
            bodies,
            committed,
        };
        Ok(Self {
            work,
            run,
            counts,
            committer: Committer::start(scope, ledger),
            placing,
            pending: Pending::new(run, checkpoint.slices.len()),
            pace: Pace::new(),
            checkpoint,
            quirks,
            traffic: work.client.traffic(),
            preparer: Arc::new(preparer),
        })
    }

    /// Prepares records ahead of their turn.
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
        let page = &mut self.pending.pages[slice];
        let identifier = &ready.header.identifier;
        match &ready.treated {
            Treated::Kept {
                repairs, unchecked, ..
            } => {
                for reason in repairs {
                    page.warn(Some(identifier), reason.clone());
                }
                for reason in unchecked {
                    self.pending.warn_once(slice, reason);
                }
            }
            Treated::Filtered => page.counts.filtered += 1,
            Treated::Invalid(reason) => page.warn(Some(identifier), reason.clone()),
            Treated::Deleted | Treated::Gone | Treated::Unchanged => {}
        }
        self.store(slice, ready)?;
        if self.pending.is_full() || self.preparer.files.waiting() >= MOST_WAITING {
            // The page is not complete, so it would be read again; its rows would be found to be there.
            self.commit()?;
        }
        Ok(())
    }

    /// Notes that the repository does not have a record any more.
    pub(super) fn gone(&mut self, slice: usize, identifier: &str) -> anyhow::Result<()> {
        let knowledge = self.preparer.look_up(&[identifier])?;
        let ready = self.preparer.prepare_gone(identifier, &knowledge);
        self.store(slice, ready)
    }

    /// Notes that a record is held as it is now.
    pub(super) fn unchanged(&mut self, slice: usize, identifier: &str) -> anyhow::Result<()> {
        let knowledge = self.preparer.look_up(&[identifier])?;
        let ready = self.preparer.prepare_unchanged(identifier, &knowledge);
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
        let page = &mut self.pending.pages[slice];
        let reason = match (&left_out.identifier, left_out.dates) {
            (None, Some((from, until))) => {
                format!("records between {from} and {until}: {}", left_out.reason)
            }
            _ => left_out.reason,
        };
        page.lose(left_out.identifier.as_deref(), reason);
    }

    /// Counts a resource that a rule skips, and names it if there is a reason to be told.
    pub(super) fn skip(&mut self, slice: usize, identifier: &str, reason: Option<String>) {
        let page = &mut self.pending.pages[slice];
        page.counts.filtered += 1;
        if let Some(reason) = reason {
            page.warn(Some(identifier), reason);
        }
    }

    /// Notes something for the history, together with the page of a slice.
    pub(super) fn warn(&mut self, slice: usize, reason: String) {
        self.pending.pages[slice].warn(None, reason);
    }

    /// Notes something for the history.
    pub(super) fn note(&mut self, reason: &str) -> anyhow::Result<()> {
        self.pending.complete.warn(None, reason.to_owned());
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
        self.pending.end_page(slice);
        self.commit()?;
        self.settle()
    }

    /// Ends a page: its rows, its counts and where to go on are committed together, at once or with the pages that
    /// follow on its heels.
    pub(super) fn end_page(&mut self, slice: usize, page: PageReport) -> anyhow::Result<()> {
        self.quirks.merge(page.quirks);
        let state = &mut self.checkpoint.slices[slice];
        state.next_from = page.next_from;
        state.given = page.given;
        state.state = page.state;
        self.pending.end_page(slice);
        // While the disk is busy with a batch, the next one grows.
        if self.pace.page_is_complete() && self.committer.is_idle() {
            self.commit()?;
        }
        (self.work.progress)(Progress {
            slice,
            records: page.given,
            complete_list_size: page.complete_list_size,
            is_broken: page.is_broken,
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
            true => self.pace.deadline(),
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
        match self.pace.is_waiting() {
            true => self.commit(),
            false => Ok(()),
        }
    }

    /// Commits what is complete, now that nothing follows at all, and waits for it.
    pub(super) fn end_reading(&mut self) -> anyhow::Result<()> {
        if self.pace.is_waiting() {
            self.commit()?;
        }
        self.settle()
    }

    /// Has the whole list read after its slices, if fewer records came than the repository says there are. `true` if so.
    pub(super) fn add_whole(&mut self) -> bool {
        let is_added = self.checkpoint.add_whole();
        if is_added {
            self.quirks.add(Quirk::ListShrank);
            self.pending.pages.push(Page::default());
        }
        is_added
    }

    /// Ends the work when everything is committed.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.placing.finish()?;
        let (repository, prefix) = (self.work.repository, &self.work.order.metadata_prefix);
        // A harvest that has brought everything does not fail for this; the next one tries it again.
        match compact_if_due(self.work.holdings, repository, prefix) {
            Ok(_) => {}
            Err(error) => tracing::warn!(
                repository.id = repository.id,
                "the packs of {} are not compacted: {}",
                repository.base_url,
                crate::message(&error)
            ),
        }
        Ok(())
    }

    fn store(&mut self, slice: usize, ready: Ready) -> anyhow::Result<()> {
        let Ready {
            header,
            treated,
            known,
            committed,
        } = ready;
        let before = self.pending.before(&header.identifier, known, committed);
        let before = before.as_ref();
        if self.pending.is_outdated(&header, before) {
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
                let mut whole;
                let prepared = match content {
                    Content::Prepared(prepared) => *prepared,
                    Content::Whole(content) => {
                        whole = content;
                        whole.prepared(self.placing.resources.is_some())
                    }
                };
                let is_unchanged = self.preparer.held(&header, before) == Some(&*prepared.digest);
                let page = &mut self.pending.pages[slice];
                let row = (self.placing).keep(
                    page,
                    &header,
                    before,
                    prepared,
                    is_unchanged,
                    validation,
                )?;
                self.pending.put(row);
            }
            Treated::Deleted => {
                let row = self.placing.delete(&header, before)?;
                self.pending.put(row);
            }
            Treated::Invalid(_) => self.pending.put(skipped(&header, before)),
            Treated::Filtered if self.work.order.prune => self.drop_record(&header, before)?,
            Treated::Filtered => {
                if let Some(held) = before.filter(|before| !before.deleted) {
                    self.pending.put(filtered(&header, held));
                }
            }
            Treated::Unchanged => {
                if let Some(held) = before.filter(|before| !before.deleted) {
                    self.pending.put(unchanged(&header, held));
                }
            }
            Treated::Gone => {
                if let Some(before) = before.filter(|before| !before.deleted) {
                    let row = self.placing.delete(&header, Some(before))?;
                    self.pending.put(RecordRow {
                        datestamp: before.datestamp,
                        ..row
                    });
                }
            }
        }
        Ok(())
    }

    /// Gives up a record that the filters do not want any more.
    fn drop_record(&mut self, header: &Header, before: Option<&Known>) -> anyhow::Result<()> {
        if let Some(before) = before {
            self.placing.remove(header, before)?;
            self.pending.drop_row(&header.identifier);
        }
        Ok(())
    }

    /// Makes sure that the files are still this process's to write.
    fn may_write(&self) -> anyhow::Result<()> {
        match self.work.job {
            Some(job) => Ok(job.pulse.hold(&self.work.client.options().stop)?),
            None => Ok(()),
        }
    }

    /// Has what is stored committed, and the pages that are complete.
    fn commit(&mut self) -> anyhow::Result<()> {
        // WARC files must not get ahead of a batch that may have failed.
        self.settle()?;
        if let Some(resources) = &mut self.placing.resources
            && let Some(position) = resources.end_captures()?
        {
            self.checkpoint.set_position(position);
        }
        let Taken {
            rows,
            dropped,
            page,
        } = self.pending.take();
        let mut counts = page.counts;
        let now = self.work.client.traffic();
        counts.requests = now.requests - self.traffic.requests;
        counts.bytes = now.bytes - self.traffic.bytes;
        self.traffic = now;
        let batch = Batch {
            rows,
            kept: self.preparer.files.end_batch()?,
            dropped,
            warnings: page.warnings,
            counts,
            resume_state: self.checkpoint.text()?,
            quirks: serde_json::to_string(&self.quirks)?,
        };
        self.committer.hand_over(batch)?;
        self.placing.journal.turn()?;
        self.pending.handed_over();
        self.pace.committed();
        Ok(())
    }

    /// Waits until all is committed that was handed over.
    fn settle(&mut self) -> anyhow::Result<()> {
        let counted = self.committer.wait()?;
        self.counts = counted.unwrap_or(self.counts);
        Ok(())
    }
}

/// How many bytes of records wait in memory for the catalog.
const MOST_WAITING: usize = 8 << 20;

/// How often the committer is asked whether a batch is committed, if there is nothing else to do.
const A_MOMENT: Duration = Duration::from_millis(10);
