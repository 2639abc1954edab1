//! Answers of the other server that are believed for a while, each for the requester who got it.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use site::{Candidate, Look, Requester, SitePath};

/// Recent answers.
#[derive(Debug)]
pub(super) struct Remembered {
    lifetime: Duration,
    looks: Mutex<HashMap<Key, (Instant, Look)>>,
    hasher: RandomState,
}

/// The key of an answer: the credentials go in as a keyed hash.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    requester: u64,
    path: SitePath,
    mark: Option<i64>,
}

impl Remembered {
    pub(super) fn new(lifetime: Duration) -> Self {
        Self {
            lifetime,
            looks: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    pub(super) fn key(&self, requester: &Requester, candidate: &Candidate) -> Key {
        let who = (
            &requester.authorization,
            &requester.cookie,
            requester.address,
        );
        Key {
            requester: self.hasher.hash_one(who),
            path: candidate.path.clone(),
            mark: candidate.facts.map(|facts| facts.mark),
        }
    }

    pub(super) fn recall(&self, key: &Key) -> Option<Look> {
        let looks = self.looks();
        let (at, look) = looks.get(key)?;
        (at.elapsed() < self.lifetime).then(|| look.clone())
    }

    pub(super) fn keep(&self, key: Key, look: &Look) {
        let mut looks = self.looks();
        if looks.len() >= MOST_REMEMBERED {
            looks.retain(|_, (at, _)| at.elapsed() < self.lifetime);
        }
        if looks.len() < MOST_REMEMBERED {
            looks.insert(key, (Instant::now(), look.clone()));
        }
    }

    fn looks(&self) -> MutexGuard<'_, HashMap<Key, (Instant, Look)>> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The most answers that are remembered.
const MOST_REMEMBERED: usize = 50_000;
