//! The counts of a run in words, from everything that came to what was kept.

use catalog::ImportCounters;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::harvests::HarvestCounts;

/// A count of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunCount {
    /// Its name, for programs.
    #[schema(value_type = String)]
    pub code: &'static str,
    /// The unit of the count, in words.
    #[schema(value_type = String)]
    pub text: &'static str,
    /// The number.
    pub count: u64,
    /// Whether it is what came, what was left of it, or what was kept.
    pub role: CountRole,
}

/// The place of a count in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountRole {
    /// Everything that came.
    All,
    /// A part that is as it should be and brought nothing new.
    Known,
    /// A part that was not wanted.
    Rejected,
    /// A part that could not be had.
    Lost,
    /// Kept.
    Kept,
}

/// The counts of a harvest. Those of nothing are omitted, but for what came and what is new.
pub(super) fn of_harvest(counts: &HarvestCounts, reads_lists: bool) -> Vec<RunCount> {
    use CountRole::{All, Kept, Known, Lost, Rejected};
    let filtered = match reads_lists {
        true => "skipped by robots.txt or on other hosts",
        false => "rejected by the filter",
    };
    let all = counts.new
        + counts.updated
        + counts.unchanged
        + counts.deleted
        + counts.filtered
        + counts.skipped
        + counts.failed;
    shown([
        (
            All,
            "received",
            ["record received", "records received"],
            all,
        ),
        (
            Known,
            "unchanged",
            ["unchanged", "unchanged"],
            counts.unchanged,
        ),
        (Rejected, "filtered", [filtered, filtered], counts.filtered),
        (Lost, "skipped", ["skipped", "skipped"], counts.skipped),
        (
            Lost,
            "failed",
            ["could not be obtained", "could not be obtained"],
            counts.failed,
        ),
        (Kept, "deleted", ["deleted", "deleted"], counts.deleted),
        (Kept, "updated", ["updated", "updated"], counts.updated),
        (Kept, "new", ["new record", "new records"], counts.new),
    ])
}

/// The counts of an import, likewise.
pub(crate) fn of_import(counters: &ImportCounters) -> Vec<RunCount> {
    use CountRole::{All, Kept, Known, Lost, Rejected};
    shown([
        (All, "captures", ["capture", "captures"], counters.all),
        (
            Rejected,
            "other_types",
            ["of another type", "other types"],
            counters.filtered_mtf,
        ),
        (
            Rejected,
            "status",
            ["not status 200", "not status 200"],
            counters.skipped_status,
        ),
        (
            Rejected,
            "url",
            ["refused by its URL", "refused by their URLs"],
            counters.filtered_url,
        ),
        (
            Known,
            "revisits",
            ["revisit", "revisits"],
            counters.revisits,
        ),
        (
            Rejected,
            "content",
            ["rejected by content", "rejected by content"],
            counters.filtered_dcf,
        ),
        (
            Lost,
            "text",
            ["without readable text", "without readable text"],
            counters.failed_text_extract,
        ),
        (
            Lost,
            "not_found",
            ["missing file", "missing files"],
            counters.failed_file_not_found,
        ),
        (
            Lost,
            "none_inside",
            [
                "container without a document",
                "containers without a document",
            ],
            counters.failed_pdf_file_not_found,
        ),
        (
            Lost,
            "unreadable",
            ["unreadable capture", "unreadable captures"],
            counters.failed_read,
        ),
        (
            Lost,
            "unsaved",
            ["could not be saved", "could not be saved"],
            counters.failed_save,
        ),
        (
            Lost,
            "record",
            ["unreadable record", "unreadable records"],
            counters.skipped_records,
        ),
        (
            Known,
            "known",
            ["known document", "known documents"],
            counters.saved_duplicate,
        ),
        (
            Kept,
            "new",
            ["new document", "new documents"],
            counters.saved_new,
        ),
    ])
}

fn shown<const N: usize>(
    counts: [(CountRole, &'static str, [&'static str; 2], u64); N],
) -> Vec<RunCount> {
    let counts = counts
        .into_iter()
        .filter(|(role, code, _, count)| *count > 0 || *role == CountRole::All || *code == "new");
    let counts = counts.map(|(role, code, [one, many], count)| RunCount {
        code,
        text: if count == 1 { one } else { many },
        count,
        role,
    });
    counts.collect()
}

/// Settings in words: those that differ from the default, by names that people know.
pub(crate) fn settings(parameters: &Value) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    add_settings(&mut settings, parameters);
    settings
}

fn add_settings(settings: &mut Vec<(String, String)>, parameters: &Value) {
    for (name, value) in parameters.as_object().into_iter().flatten() {
        if let Some(inner) = inner(name, value) {
            add_settings(settings, &inner);
            continue;
        }
        let known = NAMES.iter().find(|(known, ..)| known == name);
        let (words, usual) = match known {
            Some((_, words, usual)) => ((*words).to_owned(), *usual),
            None => (name.replace('_', " "), ""),
        };
        if let Some(value) = in_words(name, value).filter(|value| value != usual) {
            settings.push((words, value));
        }
    }
}

/// Settings that are kept as one: how texts are read, and how they are judged. The history has the first as text.
fn inner(name: &str, value: &Value) -> Option<Value> {
    match (name, value) {
        ("texts", Value::String(text)) => {
            let inner = serde_json::from_str(text).ok();
            inner.filter(Value::is_object)
        }
        ("texts" | "policy", Value::Object(_)) => Some(value.clone()),
        _ => None,
    }
}

fn in_words(name: &str, value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) if text.is_empty() => return None,
        // The history has the digest of a file, so that another text makes another import.
        Value::String(text) if matches!(name, "blacklist" | "lists") && is_digest(text) => {
            format!("given, with the digest {}…", &text[..12])
        }
        Value::String(text) => text.clone(),
        // A filter with the digest of its text.
        Value::Array(pair) if matches!(name, "filter" | "normalise") && pair.len() == 2 => {
            in_words("", &pair[0])?
        }
        Value::Array(values) => {
            let values: Vec<_> = values
                .iter()
                .filter_map(|value| in_words("", value))
                .collect();
            if values.is_empty() {
                return None;
            }
            values.join(", ")
        }
        Value::Number(number) if name.ends_with("_ms") => match number.as_u64() {
            Some(milliseconds) if milliseconds % 1000 == 0 => format!("{} s", milliseconds / 1000),
            _ => format!("{number} ms"),
        },
        Value::Object(all) => {
            let parts = all.iter().filter_map(|(name, value)| {
                let words = in_words(name, value).filter(|words| words != "no")?;
                Some(format!("{}: {words}", name.replace('_', " ")))
            });
            let parts: Vec<_> = parts.collect();
            if parts.is_empty() {
                return None;
            }
            parts.join(", ")
        }
        Value::Number(number) => number.to_string(),
    })
}

fn is_digest(text: &str) -> bool {
    text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Names of settings, what people call them, and their default in words.
const NAMES: [(&str, &str, &str); 61] = [
    ("text", "With texts", "no"),
    ("mark", "States of documents are set", "yes"),
    ("via", "Harvested via", "oai"),
    ("other_hosts", "Resources on other hosts", "no"),
    ("method", "Requested with", "ListRecords"),
    ("from", "Changed on or after", ""),
    ("until", "Changed on or before", ""),
    ("full", "Full harvest", "no"),
    ("slices", "Parallel date ranges", "1"),
    ("validation", "Validation", "strict"),
    ("schemas", "Further XML Schemas", ""),
    ("filter", "Filter", ""),
    ("normalise", "Mapping", ""),
    ("prune", "Remove what the filter rejects", "no"),
    ("deleted", "Files of deleted records", "remove"),
    ("parse_id", "Directories from identifiers", "yes"),
    (
        "files_per_directory",
        "Files in a directory at most",
        "5000",
    ),
    ("no_sync", "Without waiting for the disk", "no"),
    ("unpack", "Files behind the records, as a mirror in", ""),
    ("warc", "Files behind the records, as WARC files in", ""),
    ("resource_limit", "Maximum file size in MiB", "4096"),
    ("access", "Credentials and proxy", ""),
    ("contact", "Contact", ""),
    ("user_agent", "User agent", ""),
    ("headers", "Further headers", ""),
    ("interval_ms", "Minimum time between requests", ""),
    ("connections", "Requests at once", ""),
    ("timeout_ms", "Timeout", ""),
    ("attempts", "Attempts for each request", ""),
    (
        "longest_wait_ms",
        "Longest wait that the server may ask for",
        "",
    ),
    (
        "first_page_parts",
        "Parts asked for if the first page never comes",
        "0",
    ),
    ("paths", "Sources", ""),
    ("log", "Crawl log", ""),
    ("base_url", "Base URL for relative paths", ""),
    ("root", "Crawl directory", ""),
    ("within", "Only below", ""),
    ("collection", "Collection", ""),
    ("versions", "When a document changed, keep versions", "no"),
    (
        "mirror_deletions",
        "What was deleted at the source is removed",
        "no",
    ),
    (
        "types",
        "Media types",
        "application/pdf, application/postscript",
    ),
    ("open", "Containers that are opened", "gzip"),
    ("log_format", "Format of the log", ""),
    ("blacklist", "Blacklist", ""),
    ("lists", "Blacklists of the catalog", ""),
    ("max_url_length", "Longest URL", "2048"),
    (
        "keep_versions",
        "When a document changed, keep both contents",
        "no",
    ),
    ("digests", "Documents with a wrong digest", "mark"),
    ("crawler", "Name of the crawler", ""),
    ("needs", "Needs a worker with the tags", ""),
    ("threads", "Threads", ""),
    ("no_database", "Folder instead of the database", ""),
    ("content_filter", "Content filter", "no"),
    ("store", "Store texts", "no"),
    ("unsure", "Documents that the filter is unsure of", "import"),
    ("ocr", "Recognise images", "no"),
    ("accept", "Accepted from the probability", "0.6"),
    ("reject", "Rejected below the probability", "0.4"),
    ("kinds", "Kinds that are accepted", "paper, thesis"),
    ("model", "Model", ""),
    ("languages", "Languages to recognise", ""),
    ("why", "Reason", ""),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_import_is_told_from_what_came_to_what_was_kept() {
        let counters = ImportCounters {
            all: 37,
            filtered: 31,
            filtered_mtf: 30,
            skipped_status: 3,
            revisits: 2,
            filtered_dcf: 1,
            saved_new: 1,
            ..ImportCounters::default()
        };

        let counts = of_import(&counters);

        let said: Vec<_> = counts
            .iter()
            .map(|count| format!("{} {}", count.count, count.text))
            .collect();
        assert_eq!(
            said.join(" → "),
            "37 captures → 30 other types → 3 not status 200 → 2 revisits → 1 rejected by content → 1 new document"
        );
    }

    #[test]
    fn settings_of_texts_are_told_one_by_one() {
        let settings = settings(
            &json!({"keep_versions": false, "max_url_length": 2048, "blacklist": "0".repeat(64),
            "texts": r#"{"content_filter":true,"store":false,"policy":{"accept":0.7,"kinds":["paper","thesis"]}}"#}),
        );

        let said: Vec<_> = settings
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        assert_eq!(
            said,
            [
                "Blacklist: given, with the digest 000000000000…",
                "Content filter: yes",
                "Accepted from the probability: 0.7",
            ]
        );
    }

    #[test]
    fn settings_are_told_in_words_where_they_are_not_the_usual_ones() {
        let settings = settings(
            &json!({"full": true, "slices": 1, "timeout_ms": 30000, "filter": ["a.xml", "b1"],
            "headers": [], "unpack": null}),
        );
        let settings: Vec<_> = settings
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(
            settings,
            [
                ("Filter", "a.xml"),
                ("Full harvest", "yes"),
                ("Timeout", "30 s")
            ]
        );
    }
}
