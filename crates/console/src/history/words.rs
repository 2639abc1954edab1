//! What the history keeps as JSON, in words.

use catalog::Counts;
use harvester::Quirks;
use jobs::Retention;
use serde_json::Value;

/// What was counted, by name.
pub(crate) fn counts(counts: &Counts) -> [(&'static str, u64); 8] {
    [
        ("New", counts.new),
        ("Updated", counts.updated),
        ("Unchanged", counts.unchanged),
        ("Deleted", counts.deleted),
        ("Filtered out", counts.filtered),
        ("Mended", counts.repaired),
        ("Left out", counts.skipped),
        ("Not to be had", counts.failed),
    ]
}

/// What a harvest was begun with, as pairs of name and value; what was not set is left out.
pub(crate) fn parameters(json: &str) -> Vec<(String, String)> {
    let Ok(Value::Object(parameters)) = serde_json::from_str(json) else {
        return Vec::new();
    };
    let given = parameters.into_iter().filter(|(_, value)| {
        !value.is_null() && value.as_array().is_none_or(|values| !values.is_empty())
    });
    let mut given: Vec<_> = given
        .map(|(name, value)| (name.replace('_', " "), in_words(&value)))
        .collect();
    given.sort();
    given
}

fn in_words(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

/// The oddities of a repository that were tolerated, with how often they were met.
pub(crate) fn quirks(json: Option<&str>) -> Vec<(&'static str, u64)> {
    let quirks: Option<Quirks> = json.and_then(|json| serde_json::from_str(json).ok());
    let quirks = quirks.unwrap_or_default();
    let quirks = quirks.iter();
    quirks
        .map(|(quirk, count)| (quirk.sentence(), count))
        .collect()
}

/// How long entries are kept, as it is configured.
pub(crate) fn retention(retention: Retention) -> String {
    match retention.history_days {
        None => "Entries are kept until somebody removes them; the configuration can set history.keep_days.".to_owned(),
        Some(days) => format!(
            "Entries that are over for more than {days} days are removed by themselves, but for those that the next harvests build upon."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_told_without_those_that_were_not_set() {
        let json = r#"{"method":"ListRecords","from":null,"full":true,"schemas":[],"filter":["a.xml","b1"]}"#;
        let told = parameters(json);
        let expected = [
            ("filter", "a.xml, b1"),
            ("full", "yes"),
            ("method", "ListRecords"),
        ];
        let expected = expected.map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(told, expected);
        assert!(parameters("not JSON").is_empty());
    }

    #[test]
    fn quirks_are_told_in_sentences() {
        let told = quirks(Some(r#"{"leadingWhitespace":3}"#));
        assert_eq!(told.len(), 1);
        assert!(told[0].0.contains("blank space") && told[0].1 == 3);
        assert!(quirks(None).is_empty() && quirks(Some("{")).is_empty());
    }
}
