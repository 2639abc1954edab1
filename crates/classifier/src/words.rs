//! The words of the first and the last part of a text, singly and in pairs, each as a number of a bucket.

use super::hash::{self, Hash};
use super::reading::{Reading, Word};

/// A power of two, so that a bucket is the lower bits of a hash.
pub(crate) const BUCKETS: usize = 1 << 18;
/// Number of words from the beginning,
pub(crate) const FIRST: usize = 1_000;
/// and so many from the end are looked at.
pub(crate) const LAST: usize = 500;

/// The buckets of a text's words: sorted, each once.
pub(crate) fn buckets(reading: &Reading) -> Vec<u32> {
    let mut found = Vec::with_capacity(2 * (FIRST + LAST));
    visit(reading, |bucket, _, _| found.push(bucket));
    found.sort_unstable();
    found.dedup();
    found
}

/// Calls for each word and each pair of words, with its bucket, its words and whether they stand at the end.
pub(crate) fn visit<'a>(reading: &'a Reading, mut call: impl FnMut(u32, &'a [Word], bool)) {
    let words = &reading.words;
    let first = &words[..words.len().min(FIRST)];
    let last = &words[words.len().saturating_sub(LAST)..];
    for (part, at_end) in [(first, false), (last, true)] {
        for at in 0..part.len() {
            call(bucket(part[at].hash, at_end), &part[at..=at], at_end);
            if let Some(next) = part.get(at + 1) {
                let pair = hash::then(part[at].hash, next.hash);
                call(bucket(pair, at_end), &part[at..at + 2], at_end);
            }
        }
    }
}

fn bucket(words: Hash, at_end: bool) -> u32 {
    let place = if at_end { 0x6c61_7374 } else { 0x6669_7273 };
    (hash::then(place, words) & (BUCKETS as u64 - 1)) as u32
}
