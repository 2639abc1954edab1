//! The run that this process holds, and the beat that keeps others from taking it over.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use catalog::Run;
use harvester::Stop;

use crate::Holdings;

/// A run that is kept alive by one thread and written to by another.
pub(super) struct Lease {
    run: Mutex<Run>,
}

impl Lease {
    pub(super) fn new(run: Run) -> Self {
        Self {
            run: Mutex::new(run),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn into_run(self) -> Run {
        self.run
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews the lease until the other end of the channel is gone. A server may let us wait for an hour, and a page
    /// may be long. If the run was taken over, the harvest stops.
    pub(super) fn beat(&self, holdings: &Holdings, done: &Receiver<()>, stop: &Stop) {
        while done.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
            let renewed = holdings.wait(holdings.catalog().renew(&self.lock()));
            // A database that is away for a moment is noticed by who commits.
            if let Err(catalog::Error::LeaseLost { .. }) = renewed {
                stop.set();
                return;
            }
        }
    }
}

const BEAT: Duration = Duration::from_secs(20);
