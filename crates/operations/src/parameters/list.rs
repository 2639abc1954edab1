//! Lists of values: arrays in JSON and TOML, one text with separators in forms.

use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

/// Reads a list of lines.
pub(super) fn lines<'de, T, D>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    T: Deserialize<'de> + From<String>,
    D: Deserializer<'de>,
{
    let list = List('\n', PhantomData::<T>);
    let list = deserializer.deserialize_any(list)?;
    Ok(list.map(|texts| texts.into_iter().map(T::from).collect()))
}

/// Reads a list of words with commas between them.
pub(super) fn words<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    deserializer.deserialize_any(List(',', PhantomData::<String>))
}

/// Reads a list of choices with commas between them.
pub(super) fn choices<'de, T, D>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    T: serde::de::DeserializeOwned,
    D: Deserializer<'de>,
{
    let Some(names) = words(deserializer)? else {
        return Ok(None);
    };
    let read =
        |name: String| T::deserialize(serde_json::Value::String(name)).map_err(D::Error::custom);
    names
        .into_iter()
        .map(read)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The values of a flag that may be given several times, without empty ones.
pub(super) fn trimmed(values: &[String]) -> Vec<String> {
    let values = values.iter().map(|value| value.trim());
    values
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
        .collect()
}

struct List<T>(char, PhantomData<T>);

impl<'de, T> Visitor<'de> for List<T> {
    type Value = Option<Vec<String>>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a list of texts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        let parts: Vec<_> = text.split(self.0).map(str::to_owned).collect();
        Ok(Some(trimmed(&parts)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element::<String>()? {
            all.push(item);
        }
        Ok(Some(trimmed(&all)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
