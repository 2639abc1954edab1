//! A bell: wakes one who waits for something to do.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A bell; copies ring the same one.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<(Mutex<bool>, Condvar)>);

impl Bell {
    /// Wakes the one who waits, or the next who would.
    pub fn ring(&self) {
        let (rung, waiting) = &*self.0;
        *rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        waiting.notify_all();
    }

    /// Waits until the bell rings, but not longer than this. Whether it rang.
    pub(crate) fn wait(&self, longest: Duration) -> bool {
        let (rung, waiting) = &*self.0;
        let rung = rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = waiting.wait_timeout_while(rung, longest, |rung| !*rung);
        let (mut rung, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut rung)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_ring_is_not_lost_while_nobody_waits_and_wakes_once() {
        let bell = Bell::default();
        bell.ring();
        let began = Instant::now();
        assert!(bell.wait(Duration::from_secs(10)));
        assert!(began.elapsed() < Duration::from_secs(5));
        assert!(!bell.wait(Duration::from_millis(10)));
    }
}
