//! Moves connections along on the very thread that waits for them, until it is asked to stop.
//!
//! Between two waits nothing moves. So a server is read from no faster than its answer is used, but for the few blocks that
//! `ReadAhead` takes in advance.

use std::io;
use std::pin::pin;

use tokio::runtime::{Builder, Handle, Runtime};

use super::Stop;

/// The loop of events of one client; its threads take turns in running it.
#[derive(Debug)]
pub(super) struct Driver {
    /// There until it is dropped.
    runtime: Option<Runtime>,
    stop: Stop,
}

impl Driver {
    pub(super) fn new(stop: Stop) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            runtime: Some(runtime),
            stop,
        })
    }

    /// Waits for something to come about. `None` if it was asked to stop before.
    pub(super) fn wait<F: Future>(&self, what: F) -> Option<F::Output> {
        self.runtime.as_ref()?.block_on(unless(&self.stop, what))
    }

    /// The same for what may turn out to be unwanted.
    pub(super) fn wait_unless<F: Future>(&self, unwanted: &Stop, what: F) -> Option<F::Output> {
        self.wait(unless(unwanted, what)).flatten()
    }

    /// Looks after connections for a moment: those that nobody reads from any more are closed.
    pub(super) fn tidy(&self) {
        // A task must not wait; the next request will see to it.
        if let Some(runtime) = &self.runtime
            && Handle::try_current().is_err()
        {
            runtime.block_on(settle());
        }
    }
}

async fn unless<F: Future>(stop: &Stop, what: F) -> Option<F::Output> {
    let (what, stopped) = (pin!(what), pin!(stop.stopped()));
    tokio::select! {
        biased;
        come = what => Some(come),
        () = stopped => None,
    }
}

/// Lets connections notice what happened to them while nobody looked: a server may have closed one that was kept.
pub(super) async fn settle() {
    // The first time events are taken in, the second time those whom they concern have acted upon them.
    for _ in 0..2 {
        tokio::task::yield_now().await;
    }
}

impl Drop for Driver {
    /// Does not wait for a name that is still being looked up.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
