//! Commits what is stored, on a thread of its own: while the disk takes one batch, the files of the next are written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::Scope;

use anyhow::Context;
use catalog::{Counts, PageCommit, RecordRow, Warning};
use store::Mirror;

use crate::Holdings;
use crate::harvest::lease::Lease;
use crate::records::{KeptBatch, RecordKeeper};

/// The content of one commit: its files and resources are written, and wait to be synced.
pub(super) struct Batch {
    pub(super) rows: Vec<RecordRow>,
    /// Its records, as far as they have no files of their own.
    pub(super) kept: KeptBatch,
    pub(super) dropped: Vec<String>,
    pub(super) warnings: Vec<Warning>,
    pub(super) counts: Counts,
    /// Where the harvest goes on.
    pub(super) resume_state: String,
    pub(super) quirks: String,
}

/// Where batches go.
pub(super) struct Ledger<'a> {
    pub(super) holdings: &'a Holdings,
    pub(super) lease: &'a Lease,
    pub(super) files: Arc<RecordKeeper<'a>>,
    pub(super) mirror: Option<Arc<Mirror>>,
    /// How many batches were committed.
    pub(super) committed: Arc<AtomicU64>,
}

/// Commits one batch after the other. At most one is on its way.
pub(super) struct Committer {
    batches: SyncSender<Batch>,
    committed: Receiver<anyhow::Result<Counts>>,
    on_its_way: bool,
    /// The result of the last batch, if nobody has asked yet.
    outcome: Option<anyhow::Result<Counts>>,
}

impl Committer {
    /// Begins a thread that ends when this value goes away.
    pub(super) fn start<'scope>(scope: &'scope Scope<'scope, '_>, ledger: Ledger<'scope>) -> Self {
        let (batches, handed_over) = mpsc::sync_channel(0);
        let (tell, committed) = mpsc::channel();
        scope.spawn(move || {
            for batch in handed_over {
                // A receiver that is gone ended with another failure.
                let _ = tell.send(ledger.commit(batch));
            }
        });
        Self {
            batches,
            committed,
            on_its_way: false,
            outcome: None,
        }
    }

    /// Whether no batch is on its way.
    pub(super) fn is_idle(&mut self) -> bool {
        if self.on_its_way
            && let Ok(outcome) = self.committed.try_recv()
        {
            self.outcome = Some(outcome);
            self.on_its_way = false;
        }
        !self.on_its_way
    }

    /// Hands a batch over. The one before it was waited for.
    pub(super) fn hand_over(&mut self, batch: Batch) -> anyhow::Result<()> {
        let sent = self.batches.send(batch);
        sent.ok().context("nobody commits any more")?;
        self.on_its_way = true;
        Ok(())
    }

    /// Waits for the batch that is on its way, and returns what was counted up to it.
    pub(super) fn wait(&mut self) -> anyhow::Result<Option<Counts>> {
        if let Some(outcome) = self.outcome.take() {
            return outcome.map(Some);
        }
        if !std::mem::take(&mut self.on_its_way) {
            return Ok(None);
        }
        let counts = self.committed.recv();
        counts.context("nobody commits any more")?.map(Some)
    }
}

impl Ledger<'_> {
    /// Files first: nothing is committed that speaks of what may not be there.
    fn commit(&self, mut batch: Batch) -> anyhow::Result<Counts> {
        self.files.write(&mut batch.kept)?;
        if let Some(mirror) = &self.mirror {
            mirror.sync()?;
        }
        let page = PageCommit {
            rows: &batch.rows,
            contents: &batch.kept.contents,
            dropped: &batch.dropped,
            resume_state: Some(&batch.resume_state),
            counts: batch.counts,
            warnings: &batch.warnings,
            quirks: Some(&batch.quirks),
        };
        let mut run = self.lease.lock();
        let committed = self.holdings.catalog().commit_page(&mut run, page);
        let committed = self.holdings.wait(committed);
        committed.context("a page cannot be committed")?;
        self.committed.fetch_add(1, Ordering::Release);
        let counts = run.counts();
        drop(run);
        self.files.committed(batch.kept)?;
        Ok(counts)
    }
}
