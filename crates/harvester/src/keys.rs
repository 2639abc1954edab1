//! Sets of keys. A key is a hash with a secret of its own already, so that nobody can choose keys that collide, and it need
//! not be hashed once more.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// A set of keys that were made by `RandomState`.
pub(crate) type Keys = HashSet<u64, BuildHasherDefault<AsItIs>>;

/// Takes a key for its hash.
#[derive(Debug, Default)]
pub(crate) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Keys come as whole numbers; should something else come, nothing of it gets lost.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}
