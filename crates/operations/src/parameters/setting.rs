//! A value that a patch gives.

use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser, ValueParserFactory};
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::{Serialize, Serializer};

use super::Parameter;

/// A value that a patch gives. An empty text means the default, in flags, forms and JSON alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting<T> {
    /// Back to the default.
    Default,
    /// This value.
    To(T),
}

impl<T> Setting<T> {
    /// The value, unless it is the default.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Default => None,
            Self::To(value) => Some(value),
        }
    }
}

impl<T: Parameter> FromStr for Setting<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Ok(Self::Default),
            _ => T::read(text).map(Self::To),
        }
    }
}

/// A field of a patch that may be given.
pub(crate) trait Given<Target> {
    /// Puts the value into `target`, or `default` if the default is given. Nothing changes if nothing is given.
    fn put(&self, target: &mut Target, default: &Target);
}

impl<T: Clone + Into<Target>, Target: Clone> Given<Target> for Option<Setting<T>> {
    fn put(&self, target: &mut Target, default: &Target) {
        match self {
            None => {}
            Some(Setting::Default) => target.clone_from(default),
            Some(Setting::To(value)) => *target = value.clone().into(),
        }
    }
}

impl<T: Clone> Given<Vec<T>> for Option<Vec<T>> {
    fn put(&self, target: &mut Vec<T>, default: &Vec<T>) {
        match self.as_deref() {
            None => {}
            Some([]) => target.clone_from(default),
            Some(values) => *target = values.to_vec(),
        }
    }
}

impl<T: Serialize> Serialize for Setting<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Default => serializer.serialize_str(""),
            Self::To(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Parameter> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_any(Text)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// Reads any plain value as the text that would be typed for it.
struct Text;

impl Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a text, a number, true or false")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_bool<E>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_u64<E>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_f64<E>(self, value: f64) -> Result<String, E> {
        Ok(value.to_string())
    }
}

impl<T: Parameter> ValueParserFactory for Setting<T> {
    type Parser = SettingParser<T>;

    fn value_parser() -> Self::Parser {
        SettingParser(PhantomData)
    }
}

/// Reads a setting from a flag.
#[derive(Debug)]
pub struct SettingParser<T>(PhantomData<fn() -> T>);

impl<T> Clone for SettingParser<T> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<T: Parameter> TypedValueParser for SettingParser<T> {
    type Value = Setting<T>;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let read = |text: &str| text.parse::<Setting<T>>();
        read.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        match T::VALUES {
            [] => None,
            values => Some(Box::new(values.iter().map(PossibleValue::new))),
        }
    }
}
