//! The lines about retrieved documents: the JSON of documents, or cells of it as CSV.

use std::path::Path;

use catalog::DocumentEntry;
use flows::{Copied, Lines};
use serde_json::{Map, Value};

use crate::csv_cell;
use crate::documents::document;

/// JSON Lines. The path on this machine is not in it, because it says nothing elsewhere.
pub(super) struct JsonLines;

/// CSV (RFC 4180).
pub(super) struct CsvLines {
    pub(super) with_text: bool,
}

impl Lines for JsonLines {
    fn head(&self) -> String {
        String::new()
    }

    fn line(&self, entry: &DocumentEntry, copied: &Copied<'_>) -> String {
        let line = Value::Object(fields(entry, copied));
        format!("{line}\n")
    }
}

impl Lines for CsvLines {
    fn head(&self) -> String {
        let columns: Vec<_> = self.columns().collect();
        format!("{}\r\n", columns.join(","))
    }

    fn line(&self, entry: &DocumentEntry, copied: &Copied<'_>) -> String {
        let fields = fields(entry, copied);
        let cells = self.columns().map(|name| match fields.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => csv_cell(text),
            Some(other) => other.to_string(),
        });
        format!("{}\r\n", cells.collect::<Vec<_>>().join(","))
    }
}

impl CsvLines {
    fn columns(&self) -> impl Iterator<Item = &'static str> {
        let texts = self.with_text.then_some([TEXT, PROBLEM]);
        COLUMNS.into_iter().chain(texts.into_iter().flatten())
    }
}

fn fields(entry: &DocumentEntry, copied: &Copied<'_>) -> Map<String, Value> {
    let document = document(Path::new(""), entry.clone());
    let mut fields = match serde_json::to_value(document) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.remove("path");
    for (name, value) in [
        ("file", copied.file),
        ("text_file", copied.text_file),
        (TEXT, copied.text),
        (PROBLEM, copied.problem.or(copied.text_problem)),
    ] {
        if let Some(value) = value {
            fields.insert(name.to_owned(), value.into());
        }
    }
    if copied.problem.is_some() {
        fields.insert("file".to_owned(), Value::Null);
    }
    fields
}

const TEXT: &str = "text";
const PROBLEM: &str = "problem";
const COLUMNS: [&str; 25] = [
    "id",
    "url",
    "member",
    "host",
    "parent_url",
    "media_type",
    "declared_type",
    "size",
    "title",
    "language",
    "kind",
    "decision",
    "probability",
    "state",
    "discover_date",
    "update_date",
    "crawl_date",
    "depth",
    "import",
    "md5",
    "content_sha1",
    "content_sha256",
    "content",
    "source",
    "file",
];
