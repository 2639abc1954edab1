//! Reads the fields of a patch one by one, so that each mistake has its field.

use flows::Mistake;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

/// A field and the value that is given for it.
pub type FieldValue = (String, Value);

/// Reads `values` into a patch, as far as they can be read. The others are mistakes, and so are unknown fields.
pub fn read_fields<T: DeserializeOwned + Default>(
    values: impl IntoIterator<Item = FieldValue>,
) -> (T, Vec<Mistake>) {
    let (mut good, mut mistakes) = (Map::new(), Vec::new());
    for (name, value) in values {
        let single = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        match T::deserialize(single) {
            Ok(_) => drop(good.insert(name, value)),
            Err(error) => mistakes.push(Mistake {
                field: fields_of::<T>()
                    .iter()
                    .find(|field| **field == name)
                    .copied(),
                reason: error.to_string(),
            }),
        }
    }
    let read = T::deserialize(Value::Object(good));
    let read = read.unwrap_or_else(|error| {
        let reason = error.to_string();
        mistakes.push(Mistake {
            field: None,
            reason,
        });
        T::default()
    });
    (read, mistakes)
}

/// The names of the fields of a patch.
pub fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // The struct tells its fields, and gets nothing.
    let _ = T::deserialize(Listening(&mut fields));
    fields
}

struct Listening<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Listening<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("only a struct has fields"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(serde::de::Error::custom("there is nothing to read"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::super::HarvestPatch;
    use super::*;

    #[test]
    fn each_mistake_has_its_field_and_the_rest_is_read() {
        let text = |name: &str, value: &str| (name.to_owned(), Value::String(value.to_owned()));
        let values = [
            text("slices", "many"),
            text("validation", "lenient"),
            text("full", "true"),
            text("colour", "blue"),
        ];

        let (patch, mistakes) = read_fields::<HarvestPatch>(values);

        let fields: Vec<_> = mistakes.iter().map(|mistake| mistake.field).collect();
        assert_eq!(fields, [Some("slices"), Some("validation"), None]);
        assert_eq!(mistakes[0].reason, "write a whole number");
        assert!(mistakes[2].reason.contains("colour"), "{mistakes:?}");
        assert_eq!(patch.full, Some(crate::Setting::To(true)));
    }
}
