//! Findings about files that were made for an answer, on their way into the index.

use std::cell::RefCell;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::index::Index;

/// The outcome of a plug-in, or of the digests, for a file in one state.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) item: i64,
    pub(crate) key: String,
    pub(crate) mark: i64,
    pub(crate) outcome: String,
}

/// Findings of one answer that are not kept yet. Each by itself would be a transaction of its own.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    waiting: RefCell<Vec<Finding>>,
}

impl Findings {
    /// Takes a finding; true means that it is time to keep them all.
    pub(crate) fn add(&self, finding: Finding) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        waiting.push(finding);
        waiting.len() >= MANY
    }

    /// Keeps all. Where nothing can be written they will be made again another time, and the log says so once until
    /// they can be kept again.
    pub(crate) fn keep(&self, index: &Index, failing: &AtomicBool) {
        let findings = mem::take(&mut *self.waiting.borrow_mut());
        if findings.is_empty() {
            return;
        }
        match index.keep_findings(&findings) {
            Ok(()) => failing.store(false, Ordering::Relaxed),
            Err(error) if !failing.swap(true, Ordering::Relaxed) => {
                tracing::warn!("results cannot be kept and will be made again: {error}");
            }
            Err(_) => {}
        }
    }
}

const MANY: usize = 64;
