//! A place in the order of changes.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A place in the order of changes: `12` is behind all that the twelfth transaction changed, `12.345` within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangePosition {
    /// The number of the group.
    pub(crate) seq: i64,
    /// The number of the last row of the group that lies before this place.
    pub(crate) id: i64,
}

impl ChangePosition {
    /// Before all changes.
    pub const START: Self = Self {
        seq: 0,
        id: i64::MAX,
    };
}

impl Default for ChangePosition {
    fn default() -> Self {
        Self::START
    }
}

impl fmt::Display for ChangePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            i64::MAX => write!(formatter, "{}", self.seq),
            id => write!(formatter, "{}.{id}", self.seq),
        }
    }
}

impl FromStr for ChangePosition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse().ok()).flatten()
        };
        let position = match text.split_once('.') {
            Some((seq, id)) => number(seq).zip(number(id)),
            None => number(text).map(|seq| (seq, i64::MAX)),
        };
        let (seq, id) = position.ok_or_else(|| {
            format!("`{text}` is not a place in the order of changes; write 0 or what an earlier answer gave, such as 12 or 12.345")
        })?;
        Ok(Self { seq, id })
    }
}

impl Serialize for ChangePosition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        for text in ["0", "12", "12.345"] {
            assert_eq!(text.parse::<ChangePosition>().unwrap().to_string(), text);
        }
        for text in ["", "-1", "1.", ".1", "1.2.3", "x", "99999999999999999999"] {
            assert!(text.parse::<ChangePosition>().is_err(), "{text}");
        }
        assert_eq!("0".parse(), Ok(ChangePosition::START));
    }
}
