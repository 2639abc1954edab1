//! Sizes as people write them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// A number of bytes, written as a number or with a unit: `"10 MiB"`, `"500 kB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let bytes_per_unit = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => Some(1),
            "kb" => Some(1000),
            "kib" | "k" => Some(1 << 10),
            "mb" => Some(1_000_000),
            "mib" | "m" => Some(1 << 20),
            "gb" => Some(1_000_000_000),
            "gib" | "g" => Some(1 << 30),
            _ => None,
        };
        let number: Option<u64> = number.parse().ok();
        let size = number.and_then(|number| number.checked_mul(bytes_per_unit?));
        size.map(Self)
            .ok_or_else(|| format!("`{text}` is not a size; write it like `500 kB` or `10 MiB`"))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(u64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(number) => Ok(Self(number)),
            Form::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_units() {
        for (text, size) in [
            ("0", 0),
            ("17", 17),
            ("10 MiB", 10 << 20),
            ("500kB", 500_000),
            ("1 g", 1 << 30),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(size)), "{text}");
        }
        for text in ["", "MiB", "-1", "1 parsec", "99999999999 GiB"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }
}
