//! The flag that ends waiting and long work.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// A flag that ends waiting and long work. Clones are the same flag; it is never set back.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Switch>);

#[derive(Debug, Default)]
struct Switch {
    is_set: AtomicBool,
    was_set: Notify,
}

impl Stop {
    /// Asks to stop.
    pub fn set(&self) {
        self.0.is_set.store(true, Ordering::SeqCst);
        self.0.was_set.notify_waiters();
    }

    /// Whether it was asked to stop.
    pub fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::SeqCst)
    }

    /// The flag alone, for code that polls it.
    pub fn flag(&self) -> &AtomicBool {
        &self.0.is_set
    }

    /// Waits until it is asked to stop.
    pub async fn stopped(&self) {
        let mut told = pin!(self.0.was_set.notified());
        // Only those that listen already are notified, so it listens before it looks.
        told.as_mut().enable();
        if !self.is_set() {
            told.await;
        }
    }
}
