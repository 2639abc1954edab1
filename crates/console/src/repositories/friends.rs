//! Repositories that are known to others: a list to choose from, read beside everything else. Without it everything
//! works.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use flows::friends::Friend;
use harvester::{Client, ClientOptions};

use crate::outside::Outside;

/// The list, as it was last read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Friends(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    friends: Arc<Vec<Friend>>,
    /// When it is to be read again.
    due: Option<Instant>,
}

impl Friends {
    /// Those that are known by now. If the list is old it is read anew, and the next who asks has it.
    pub(crate) fn known(&self, outside: &Outside) -> Arc<Vec<Friend>> {
        let mut state = self.state();
        let now = Instant::now();
        let is_due = state.due.is_none_or(|due| due <= now);
        if let Some(source) = outside.friends.clone().filter(|_| is_due) {
            state.due = Some(now + OLD);
            let (friends, client) = (self.clone(), outside.client.clone());
            tokio::task::spawn_blocking(move || friends.read(&source, client));
        }
        Arc::clone(&state.friends)
    }

    fn read(&self, source: &str, options: ClientOptions) {
        let read = Client::new(options)
            .map_err(Into::into)
            .and_then(|client| flows::friends::read(source, &client));
        match read {
            Ok(friends) => self.state().friends = Arc::new(friends),
            // The list of before is better than none.
            Err(error) => {
                let message = flows::message(&error);
                tracing::warn!("the list of known repositories {source} cannot be read: {message}");
                self.state().due = Some(Instant::now() + AGAIN);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whatever was wrong may soon be over.
const AGAIN: Duration = Duration::from_secs(5 * 60);
const OLD: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_cannot_be_read_is_soon_tried_again() {
        let friends = Friends::default();
        friends.state().due = Some(Instant::now() + OLD);
        friends.read("/nowhere/friends.xml", ClientOptions::default());
        let due = friends.state().due.unwrap();
        assert!(due <= Instant::now() + AGAIN);
    }
}
