//! Repositories that are known to others: a list to choose from, read beside everything else. Without it everything
//! works.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use harvester::{Client, ClientOptions};
pub(crate) use jobs::friends::Friend;

use crate::outside::Outside;

/// The list, as it was last read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Friends(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    friends: Arc<Vec<Friend>>,
    /// When reading was last begun.
    begun: Option<Instant>,
}

impl Friends {
    /// Those that are known by now. If the list is old it is read anew, and the next who asks has it.
    pub(crate) fn known(&self, outside: &Outside) -> Arc<Vec<Friend>> {
        let mut state = self.state();
        let is_old = state.begun.is_none_or(|begun| begun.elapsed() > OLD);
        if let Some(source) = outside.friends.clone().filter(|_| is_old) {
            state.begun = Some(Instant::now());
            let (friends, client) = (self.clone(), outside.client.clone());
            tokio::task::spawn_blocking(move || friends.read(&source, client));
        }
        Arc::clone(&state.friends)
    }

    fn read(&self, source: &str, options: ClientOptions) {
        let read = Client::new(options)
            .map_err(Into::into)
            .and_then(|client| jobs::friends::read(source, &client));
        match read {
            Ok(friends) => self.state().friends = Arc::new(friends),
            // The list of before is better than none.
            Err(error) => tracing::warn!(
                "the list of known repositories {source} cannot be read: {}",
                jobs::message(&error)
            ),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const OLD: Duration = Duration::from_secs(24 * 3600);
