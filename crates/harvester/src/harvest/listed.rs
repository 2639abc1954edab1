//! The identifiers that the current list had so far. A list from which records move to its end while it is read names them
//! twice, and passes over as many others.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::keys::Keys;

/// Remembers the identifiers of one list: a few exactly, and many as bits.
#[derive(Debug, Default)]
pub(super) struct Listed {
    random: RandomState,
    keys: Keys,
    /// Takes the place of the keys where they are too many.
    bits: Vec<u64>,
    noted: usize,
    /// Whether it did not see the beginning of the list.
    is_partial: bool,
    /// Whether nothing needs to be remembered, because the list does not tell its size.
    is_idle: bool,
}

impl Listed {
    /// Memory of a list whose beginning was read by another process.
    pub(super) fn partial() -> Self {
        Self {
            is_partial: true,
            ..Self::default()
        }
    }

    /// Notes an identifier; whether it came before. `is_late` tells that the record changed since the harvest began: among very
    /// many identifiers only such ones are looked up, and those of which nothing is remembered count as if they came before.
    pub(super) fn insert(&mut self, identifier: &str, is_late: bool) -> bool {
        if self.is_idle {
            return false;
        }
        let key = self.random.hash_one(identifier);
        self.noted += 1;
        if self.bits.is_empty() && self.noted <= EXACT {
            return !self.keys.insert(key) || self.is_partial && is_late;
        }
        if self.bits.is_empty() {
            self.bits = vec![0; BITS / 64];
            for key in std::mem::take(&mut self.keys) {
                self.set(key);
            }
        }
        let came = is_late && (self.is_partial || self.is_set(key));
        if self.noted <= MOST {
            self.set(key);
        }
        came
    }

    /// Forgets everything: another list begins.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Remembers nothing more of this list.
    pub(super) fn rest(&mut self) {
        *self = Self {
            is_idle: true,
            ..Self::default()
        };
    }

    fn set(&mut self, key: u64) {
        for place in places(key) {
            self.bits[place / 64] |= 1 << (place % 64);
        }
    }

    fn is_set(&self, key: u64) -> bool {
        places(key).all(|place| self.bits[place / 64] & 1 << (place % 64) != 0)
    }
}

/// The bits that stand for a key.
fn places(key: u64) -> impl Iterator<Item = usize> {
    let (first, step) = (key, key.rotate_left(32) | 1);
    (0..4).map(move |turn| {
        let place = first.wrapping_add(step.wrapping_mul(turn)) % BITS as u64;
        usize::try_from(place).unwrap_or_default()
    })
}

/// As many identifiers are remembered exactly, in about 4 MB.
const EXACT: usize = 200_000;
/// The bits for more of them: 16 MB, by which one of 5,000 is taken for another among four million.
const BITS: usize = 1 << 27;
/// No more are remembered.
const MOST: usize = 8_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_that_came_before_are_known_also_among_many() {
        let name = |number: usize| format!("oai:a:{number}");
        let mut listed = Listed::default();
        for number in 0..EXACT + 50_000 {
            assert!(!listed.insert(&name(number), false));
        }

        for number in [0, 1, EXACT - 1, EXACT, EXACT + 49_999] {
            assert!(listed.insert(&name(number), true), "{number}");
        }
        let new = EXACT + 50_000;
        let wrong = (new..new + 1000).filter(|number| listed.insert(&name(*number), true));
        assert!(wrong.count() < 3);
        listed.forget();
        assert!(!listed.insert(&name(1), true));
        assert!(Listed::partial().insert(&name(1), true));
    }
}
