//! Hashes of words and of sequences of words: the same on every machine, since models are made of them.

/// A hash of a word, or of words after each other.
pub(crate) type Hash = u64;

/// Hashes a word character by character (FNV-1a), in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Hasher(u64);

impl Default for Hasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher {
    pub(crate) fn add_lower(&mut self, c: char) {
        if c.is_ascii() {
            self.add(u32::from(c.to_ascii_lowercase()));
            return;
        }
        for c in c.to_lowercase() {
            self.add(u32::from(c));
        }
    }

    /// As `add_lower`, for a letter of ASCII.
    pub(crate) fn add_ascii_letter(&mut self, letter: u8) {
        self.add(u32::from(letter | 0x20));
    }

    fn add(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    pub(crate) fn finish(self) -> Hash {
        mix(self.0)
    }
}

/// Of a word, in lower case.
pub(crate) fn of_word(word: &str) -> Hash {
    let mut hasher = Hasher::default();
    word.chars().for_each(|c| hasher.add_lower(c));
    hasher.finish()
}

/// Of a number: how long it is tells more than which it is.
pub(crate) fn of_number(digits: usize) -> Hash {
    mix(0x23_0000 + digits.min(5) as u64)
}

/// Of what was hashed before and one word more.
pub(crate) fn then(before: Hash, word: Hash) -> Hash {
    mix(before.rotate_left(23) ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Spreads what is known over all bits (the finaliser of MurmurHash3).
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}
