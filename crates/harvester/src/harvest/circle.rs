//! Notices what comes again, however long ago it came, and remembers almost nothing for it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A mark on the way, which is moved on ever more rarely (Brent's algorithm). Whoever goes in a circle
/// comes back to it. It can be kept with the state of a harvest, where a list of all that came
/// cannot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Circle {
    mark: Option<u64>,
    steps: u64,
    /// How many steps there are before the mark moves.
    reach: u64,
    met: u32,
}

impl Circle {
    /// Goes one step on, and tells how often the mark was met.
    pub(super) fn step(&mut self, text: &str) -> u32 {
        // Another process must get the same number.
        let digest = Sha256::digest(text.as_bytes());
        let number = digest
            .iter()
            .take(8)
            .fold(0, |number, byte| number << 8 | u64::from(*byte));
        if self.mark == Some(number) {
            self.met += 1;
            self.steps = 0;
            return self.met;
        }
        self.steps += 1;
        if self.steps > self.reach {
            *self = Self {
                mark: Some(number),
                steps: 0,
                reach: (self.reach * 2).max(1),
                met: 0,
            };
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_noticed_whatever_their_length_and_the_way_to_them() {
        for way in [0, 1, 5, 100] {
            for length in [1, 2, 3, 50] {
                let mut circle = Circle::default();
                let mut places = (0..way).chain((0..length).cycle().map(|place| 1000 + place));
                let found = places
                    .position(|place: u32| circle.step(&place.to_string()) == 3)
                    .unwrap();
                assert!(found < 8 * (way + length) as usize + 8, "{way} {length}");
            }
        }
    }

    #[test]
    fn a_straight_way_is_no_circle() {
        let mut circle = Circle::default();
        assert!((0..10_000).all(|place| circle.step(&place.to_string()) == 0));
    }
}
