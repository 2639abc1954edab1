//! How much memory the bodies of documents may take, all threads together.
//!
//! A thread that gets none does not wait, or two threads could wait for each other: it writes to a file instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that threads share; copies share the same.
#[derive(Debug, Clone)]
pub(in crate::import) struct Budget(Arc<AtomicUsize>);

/// A part of the budget, which is given back when it is dropped.
#[derive(Debug)]
pub(in crate::import) struct Share {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    pub(in crate::import) fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// A share of nothing, to be grown.
    pub(in crate::import) fn share(&self) -> Share {
        Share {
            budget: self.clone(),
            bytes: 0,
        }
    }
}

impl Share {
    /// Makes the share as large as this, if so much is left.
    pub(in crate::import) fn grow_to(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let left = &self.budget.0;
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(more)
        });
        if taken.is_ok() {
            self.bytes += more;
        }
        taken.is_ok()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_given_than_there_is_and_what_is_dropped_comes_back() {
        let budget = Budget::new(100);
        let mut first = budget.share();
        let mut second = budget.share();

        assert!(first.grow_to(60));
        assert!(!second.grow_to(41));
        assert!(second.grow_to(40));
        assert!(first.grow_to(50));
        drop(first);

        assert!(second.grow_to(100));
        assert!(!second.grow_to(101));
    }
}
