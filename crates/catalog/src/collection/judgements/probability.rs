//! A probability as the catalog keeps it: in millionths, so that it is the same whichever database has it.

use serde::{Deserialize, Serialize};

/// A probability, in millionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u32);

impl Probability {
    /// The nearest one that can be kept; what is no probability becomes one.
    pub fn new(value: f64) -> Self {
        let millionths = (value * WHOLE).round();
        // A cast of what is no number gives 0.
        Self(millionths.clamp(0.0, WHOLE) as u32)
    }

    /// As a number from 0 to 1.
    pub fn value(self) -> f64 {
        f64::from(self.0) / WHOLE
    }

    pub(super) fn millionths(self) -> i64 {
        i64::from(self.0)
    }

    pub(super) fn of(millionths: i64) -> Self {
        Self(u32::try_from(millionths).unwrap_or_default().min(1_000_000))
    }
}

impl Serialize for Probability {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.value())
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::new)
    }
}

const WHOLE: f64 = 1_000_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_probability_becomes_one() {
        let kept = [0.25, 1.5, -1.0, f64::NAN, f64::INFINITY].map(|p| Probability::new(p).value());
        assert_eq!(kept, [0.25, 1.0, 0.0, 0.0, 1.0]);
    }
}
