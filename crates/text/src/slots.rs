//! Places for work: so many at a time, the others wait.

use std::sync::{Condvar, Mutex};

#[derive(Debug)]
pub(super) struct Slots {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A place that is taken until this value goes away.
pub(super) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(super) fn new(count: usize) -> Self {
        Self {
            free: Mutex::new(count.max(1)),
            freed: Condvar::new(),
        }
    }

    /// Waits for a place.
    pub(super) fn take(&self) -> Slot<'_> {
        let free = self.free.lock().unwrap_or_else(|error| error.into_inner());
        let free = self.freed.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(|error| error.into_inner()) -= 1;
        Slot(self)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut free = self
            .0
            .free
            .lock()
            .unwrap_or_else(|error| error.into_inner());
        *free += 1;
        self.0.freed.notify_one();
    }
}
