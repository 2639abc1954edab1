//! Which records were given a short while ago, so that overlaps are not given twice.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::Header;
use crate::keys::Keys;

/// Remembers at least as many records as two generations hold, and never more.
#[derive(Debug, Default)]
pub(super) struct Recent {
    keys: RandomState,
    young: Keys,
    old: Keys,
}

impl Recent {
    /// The record's key: identifier and datestamp.
    pub(super) fn key(&self, header: &Header) -> u64 {
        self.keys.hash_one((&header.identifier, &header.datestamp))
    }

    pub(super) fn contains(&self, key: u64) -> bool {
        self.young.contains(&key) || self.old.contains(&key)
    }

    /// Notes a record; whether it is a new one.
    pub(super) fn insert(&mut self, key: u64) -> bool {
        if self.contains(key) {
            return false;
        }
        if self.young.len() == GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key)
    }

    /// Forgets all records.
    pub(super) fn forget(&mut self) {
        self.young.clear();
        self.old.clear();
    }

    /// The key of a record that cannot be had.
    pub(super) fn of_loss(&self, identifier: &str) -> u64 {
        self.keys.hash_one((identifier, "left out"))
    }

    pub(super) fn of_text(&self, text: &str) -> u64 {
        self.keys.hash_one(text)
    }
}

/// As many records at least are remembered.
pub(super) const GENERATION: usize = 50_000;
