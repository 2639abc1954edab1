//! A batch of rows as one parameter: a JSON array of arrays, cleaned.

use serde::Serialize;

use crate::database::Value;

/// How many rows a statement takes at most.
pub(crate) const BATCH: usize = 500;

/// Makes the parameter of `{each(…)}`.
pub(crate) fn batch<T: Serialize>(rows: &[T]) -> Value {
    let json = serde_json::to_string(rows).expect("rows of texts and numbers can be written");
    // serde_json escapes NUL, which PostgreSQL refuses in that form too. A backslash before it is escaped itself.
    Value::Text(Some(without_nul(json)))
}

pub(crate) fn without_nul(json: String) -> String {
    if !json.contains("\\u0000") {
        return json;
    }
    let mut clean = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix("\\u0000") {
            clean.push_str("\\ufffd");
            rest = behind;
        } else {
            // A backslash and what it escapes stay together.
            clean.push_str(&rest[..2]);
            rest = &rest[2..];
        }
    }
    clean + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_is_replaced_and_a_text_that_looks_like_it_is_not() {
        let Value::Text(Some(json)) = batch(&[("a\0b", r"\u0000", "\\\0")]) else {
            panic!("a batch is a text");
        };

        let read: Vec<[String; 3]> = serde_json::from_str(&json).unwrap();

        assert_eq!(
            read,
            [["a\u{fffd}b", r"\u0000", "\\\u{fffd}"].map(String::from)]
        );
    }
}
