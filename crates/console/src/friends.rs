//! Repositories that are known to others: a list to choose from, read beside everything else. Without it everything
//! works.

use std::sync::{Arc, Mutex, PoisonError};

/// A repository that is known to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Friend {
    pub(crate) base_url: String,
    pub(crate) name: String,
}

/// The list, as it was last read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Friends(Arc<Mutex<Vec<Friend>>>);

impl Friends {
    /// Those that are known by now.
    pub(crate) fn known(&self) -> Vec<Friend> {
        let friends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        friends.clone()
    }
}
