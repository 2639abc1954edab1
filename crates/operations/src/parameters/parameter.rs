//! The types that parameters have, and how each is read from a text.

use std::path::PathBuf;

use flows::rules::RulesName;
use flows::{Deleted, DigestRule, Unsure, Via};
use harvester::Method;
use rules::validation::Level;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

/// A value that can be typed.
pub trait Parameter: Clone + Send + Sync + 'static {
    /// All values there are, if they are few.
    const VALUES: &'static [&'static str] = &[];

    /// Reads a text that is not empty, or says what to write.
    fn read(text: &str) -> Result<Self, String>;
}

macro_rules! number {
    ($what:literal; $($number:ty),*) => {$(
        impl Parameter for $number {
            fn read(text: &str) -> Result<Self, String> {
                text.trim().parse().map_err(|_| $what.to_owned())
            }
        }
    )*};
}

number!("write a whole number"; u16, u32, u64, usize, i64);
number!("write a number, such as 0.6"; f64);

impl Parameter for bool {
    const VALUES: &'static [&'static str] = &["true", "false"];

    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "true" | "on" | "yes" => Ok(true),
            "false" | "off" | "no" => Ok(false),
            _ => Err("write true or false".to_owned()),
        }
    }
}

impl Parameter for String {
    fn read(text: &str) -> Result<Self, String> {
        Ok(text.trim().to_owned())
    }
}

impl Parameter for PathBuf {
    fn read(text: &str) -> Result<Self, String> {
        Ok(Self::from(text))
    }
}

impl Parameter for RulesName {
    fn read(text: &str) -> Result<Self, String> {
        text.trim().parse().map_err(|never| match never {})
    }
}

/// Choices by the names that they have in JSON.
macro_rules! choice {
    ($($choice:ty: $($name:literal)*;)*) => {$(
        impl Parameter for $choice {
            const VALUES: &'static [&'static str] = &[$($name),*];

            fn read(text: &str) -> Result<Self, String> {
                let read = Self::deserialize(IntoDeserializer::<Error>::into_deserializer(text.trim()));
                read.map_err(|_| format!("write {}", Self::VALUES.join(" or ")))
            }
        }
    )*};
}

choice! {
    Method: "ListRecords" "ListIdentifiers";
    Level: "strict" "very-strict" "loose";
    Deleted: "remove" "keep";
    Via: "auto" "oai" "resourcesync" "sitemap" "static";
    DigestRule: "mark" "skip" "ignore";
    Unsure: "import" "set-aside";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads_all<T: Parameter>() {
        for name in T::VALUES {
            assert!(T::read(name).is_ok(), "{name}");
        }
        assert!(T::read("nonsense").is_err());
    }

    #[test]
    fn every_value_that_is_offered_can_be_read() {
        reads_all::<bool>();
        reads_all::<Method>();
        reads_all::<Level>();
        reads_all::<Deleted>();
        reads_all::<DigestRule>();
        reads_all::<Unsure>();
    }
}
