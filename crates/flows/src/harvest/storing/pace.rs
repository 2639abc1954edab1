//! When stored pages are committed: together with the pages that follow at once, and at most a second later.

use std::time::{Duration, Instant};

/// Decides when to commit.
pub(super) struct Pace {
    began: Instant,
    /// Until when complete pages wait for others.
    next_commit: Instant,
    /// When the first complete page has to be committed at the latest; `None` if there is none.
    deadline: Option<Instant>,
}

impl Pace {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            next_commit: now,
            deadline: None,
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether complete pages wait.
    pub(super) fn is_waiting(&self) -> bool {
        self.deadline.is_some()
    }

    /// Notes that a page is complete. Whether it is time to commit.
    pub(super) fn page_is_complete(&mut self) -> bool {
        let deadline = *self.deadline.get_or_insert(self.next_commit);
        Instant::now() >= deadline
    }

    /// Notes a commit. A harvest that is killed loses at most a third of its work, so that it advances even if it is killed
    /// again and again.
    pub(super) fn committed(&mut self) {
        self.deadline = None;
        self.next_commit = Instant::now() + LONGEST_WAIT.min(self.began.elapsed() / 2);
    }
}

/// How long a page may wait for others.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
