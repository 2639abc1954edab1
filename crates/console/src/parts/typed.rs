//! A form as it was typed: texts by the names of its fields, kept until they can be read.

use std::collections::BTreeMap;

use operations::{FieldValue, fields_of};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The fields of a form by name; a field that was not sent is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<(String, String)>")]
pub(crate) struct Typed(BTreeMap<String, String>);

impl From<Vec<(String, String)>> for Typed {
    fn from(fields: Vec<(String, String)>) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl Typed {
    /// The text of a field.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Sets a field.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Shows the settings of an order.
    pub(crate) fn show(&mut self, order: &Map<String, Value>) {
        for (name, value) in order {
            self.set(name, text_of(name, value));
        }
    }

    /// The fields that a patch has. A secret that is left empty is not given, because forms do not show it.
    pub(crate) fn fields<T: DeserializeOwned>(&self) -> Vec<FieldValue> {
        let given = self.0.iter().filter(|(name, value)| {
            let is_field = fields_of::<T>().contains(&name.as_str());
            is_field && !(value.is_empty() && SECRETS.contains(&name.as_str()))
        });
        let given = given.map(|(name, value)| (name.clone(), Value::String(value.clone())));
        given.collect()
    }

    /// Whether one of `names` differs from `other`.
    pub(crate) fn differs(&self, other: &Self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name) != other.get(name))
    }
}

/// A value as a form shows it.
fn text_of(name: &str, value: &Value) -> String {
    let separator = match name {
        "paths" | "headers" | "schemas" => "\n",
        _ => ", ",
    };
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            let values = values.iter().map(|value| text_of(name, value));
            values.collect::<Vec<_>>().join(separator)
        }
        value => value.to_string(),
    }
}

/// Settings that are never shown.
pub(crate) const SECRETS: [&str; 3] = ["credentials", "proxy", "ca"];
