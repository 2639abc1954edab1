//! Messages that repeat: told once, and counted.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Counts messages.
#[derive(Debug, Default)]
pub struct Repeats {
    seen: HashMap<String, (u64, Instant)>,
}

impl Repeats {
    /// Counts a message. Returns its count if it should be logged: the first time, and then the tenth, the
    /// hundredth and so on. One that has not come for an hour is new again.
    pub fn count(&mut self, message: &str, now: Instant) -> Option<u64> {
        if self.seen.len() >= MOST && !self.seen.contains_key(message) {
            self.seen.retain(|_, (_, last)| !is_over(*last, now));
            if self.seen.len() >= MOST {
                self.seen.clear();
            }
        }
        let seen = self.seen.entry(message.to_owned()).or_insert((0, now));
        if is_over(seen.1, now) {
            seen.0 = 0;
        }
        *seen = (seen.0 + 1, now);
        let is_told = 10_u64.pow(seen.0.ilog10()) == seen.0;
        is_told.then_some(seen.0)
    }
}

fn is_over(last: Instant, now: Instant) -> bool {
    now.saturating_duration_since(last) >= MEMORY
}

/// The most messages that are remembered.
const MOST: usize = 1000;
const MEMORY: Duration = Duration::from_secs(60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_once_and_counted() {
        let (mut repeats, now) = (Repeats::default(), Instant::now());
        let told: Vec<_> = (0..1000).filter_map(|_| repeats.count("a", now)).collect();
        assert_eq!(told, [1, 10, 100, 1000]);
        assert_eq!(repeats.count("b", now), Some(1));
        assert_eq!(repeats.count("a", now), None);
        assert_eq!(repeats.count("a", now + MEMORY), Some(1));
    }

    #[test]
    fn memory_is_bounded() {
        let (mut repeats, now) = (Repeats::default(), Instant::now());
        for number in 0..3 * MOST {
            assert_eq!(repeats.count(&number.to_string(), now), Some(1));
        }
        assert!(repeats.seen.len() <= MOST);
    }
}
