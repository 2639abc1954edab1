//! A repair that is going on: an import of its own, which keeps all others away as long as it is heard of.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::bail;
use catalog::{FinishImport, Import, ImportState, Superfluous};

use super::Verification;
use crate::{Holdings, message};

/// A repair of this process.
pub(super) struct Repairing<'a> {
    holdings: &'a Holdings,
    import: Mutex<Import>,
    is_lost: AtomicBool,
}

impl<'a> Repairing<'a> {
    /// Begins, and tells which files imports were about to remove when they were killed.
    pub(super) fn begin(
        holdings: &'a Holdings,
        is_behind: bool,
    ) -> anyhow::Result<(Self, Vec<Superfluous>)> {
        let begun = holdings.catalog().begin_repair(LEASE, is_behind);
        let (import, left) = holdings.wait(begun)?;
        let repairing = Self {
            holdings,
            import: Mutex::new(import),
            is_lost: AtomicBool::new(false),
        };
        Ok((repairing, left))
    }

    /// Does something that takes long, and is heard of meanwhile.
    pub(super) fn alive<T>(&self, work: impl FnOnce() -> T) -> T {
        let (ended, over) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || self.beat(&over));
            let worked = work();
            drop(ended);
            worked
        })
    }

    fn beat(&self, over: &Receiver<()>) {
        while over.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
            let import = self.lock();
            let renewed = self
                .holdings
                .wait(self.holdings.catalog().beat_import(&import));
            // A database that is away for a moment is noticed by who commits.
            if let Err(catalog::Error::ImportLost { .. }) = renewed {
                self.is_lost.store(true, Ordering::Relaxed);
                return;
            }
        }
    }

    /// Refuses to go on where others may have begun. To be asked before files are touched.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.is_lost.load(Ordering::Relaxed) {
            bail!(
                "the repair was not heard of for too long, and others may write by now; repair again"
            );
        }
        Ok(())
    }

    /// Ends the repair, so that others can begin.
    pub(super) fn finish(
        self,
        worked: anyhow::Result<Verification>,
    ) -> anyhow::Result<Verification> {
        let import = self.import.into_inner();
        let import = import.unwrap_or_else(PoisonError::into_inner);
        let finish = match &worked {
            Ok(verification) => FinishImport {
                reason: Some(verification.said()),
                ..FinishImport::new(ImportState::Ok)
            },
            Err(error) => FinishImport {
                reason: Some(message(error)),
                ..FinishImport::new(ImportState::Failed)
            },
        };
        let catalog = self.holdings.catalog();
        let finished = self.holdings.wait(catalog.finish_import(import, &finish));
        // The failure itself matters more than that it could not be recorded.
        let worked = worked?;
        finished?;
        Ok(worked)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Import> {
        self.import.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const LEASE: Duration = Duration::from_secs(120);
const BEAT: Duration = Duration::from_secs(20);
