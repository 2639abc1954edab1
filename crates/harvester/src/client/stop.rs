//! The switch that ends waiting and harvesting.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// A switch that ends waiting and harvesting. Clones are the same switch; it is never set back.
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

    /// Waits until it is asked to stop.
    pub async fn stopped(&self) {
        let mut told = pin!(self.0.was_set.notified());
        // Who is told only if he listens has to listen before he looks.
        told.as_mut().enable();
        if !self.is_set() {
            told.await;
        }
    }
}
