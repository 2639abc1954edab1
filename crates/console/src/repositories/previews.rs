//! Answers of repositories that somebody may add.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use flows::SelfDescription;

use operations::secret;

/// Descriptions that were shown; each is for the one who asked, for a while.
#[derive(Debug, Default)]
pub(crate) struct Previews(Mutex<VecDeque<Preview>>);

#[derive(Debug)]
struct Preview {
    token: String,
    account: i64,
    made: Instant,
    description: SelfDescription,
}

impl Previews {
    /// Keeps a description, and gives what it can be asked for by.
    pub(crate) fn keep(
        &self,
        account: i64,
        description: SelfDescription,
    ) -> anyhow::Result<String> {
        let token = secret::random()?;
        let mut previews = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        previews.retain(|preview| preview.made.elapsed() < GOOD_FOR);
        if previews.len() >= MOST {
            previews.pop_front();
        }
        previews.push_back(Preview {
            token: token.clone(),
            account,
            made: Instant::now(),
            description,
        });
        Ok(token)
    }

    /// Takes a description back, once.
    pub(crate) fn take(&self, account: i64, token: &str) -> Option<SelfDescription> {
        let mut previews = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |preview: &Preview| preview.token == token && preview.account == account;
        let at = previews.iter().position(is_it)?;
        let preview = previews.remove(at)?;
        (preview.made.elapsed() < GOOD_FOR).then_some(preview.description)
    }
}

/// A description with a million sets takes some room.
const MOST: usize = 8;
const GOOD_FOR: Duration = Duration::from_secs(15 * 60);
