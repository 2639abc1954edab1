//! The history as CSV (RFC 4180), for spreadsheets.

use axum::body::Bytes;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use catalog::{HistoryEntry, HistoryQuery};

use crate::filters::date;
use crate::state::ConsoleState;
use crate::stream;

/// All entries that a query is for, the newest first, however many there are.
pub(crate) fn csv(state: &ConsoleState, mut query: HistoryQuery) -> Response {
    let (sender, body) = stream::body();
    let state = state.clone();
    query.before = None;
    query.limit = PAGE;
    tokio::spawn(async move {
        let mut text = line(COLUMNS.map(str::to_owned));
        loop {
            let entries = match state.catalog().history(&query).await {
                Ok(entries) => entries,
                Err(error) => {
                    tracing::error!("the history as CSV breaks off: {error}");
                    let error = std::io::Error::other("the catalog does not answer");
                    let _ = sender.send(Err(error)).await;
                    return;
                }
            };
            for entry in &entries {
                text.push_str(&line(cells(entry)));
            }
            let part = Bytes::from(std::mem::take(&mut text));
            if sender.send(Ok(part)).await.is_err() || (entries.len() as u64) < PAGE {
                return;
            }
            query.before = entries.last().map(|entry| entry.id);
        }
    });
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (
            CONTENT_DISPOSITION,
            "attachment; filename=\"garner-history.csv\"",
        ),
    ];
    (headers, body).into_response()
}

fn cells(entry: &HistoryEntry) -> [String; 23] {
    let counts = &entry.counts;
    let number = |id: Option<i64>| id.map(|id| id.to_string()).unwrap_or_default();
    let took = entry.ended.map(|ended| ended - entry.started);
    [
        entry.id.to_string(),
        entry.repository.to_string(),
        entry.base_url.clone(),
        entry.metadata_prefix.clone(),
        entry.set.clone().unwrap_or_default(),
        entry.state.name().to_owned(),
        date(entry.started).to_string(),
        entry
            .ended
            .map(|ended| date(ended).to_string())
            .unwrap_or_default(),
        number(took),
        entry.attempts.to_string(),
        counts.new.to_string(),
        counts.updated.to_string(),
        counts.unchanged.to_string(),
        counts.deleted.to_string(),
        counts.filtered.to_string(),
        counts.repaired.to_string(),
        counts.skipped.to_string(),
        counts.failed.to_string(),
        counts.requests.to_string(),
        counts.bytes.to_string(),
        number(entry.schedule),
        number(entry.job),
        entry.failure_reason.clone().unwrap_or_default(),
    ]
}

fn line<const N: usize>(cells: [String; N]) -> String {
    let cells = cells.map(|cell| quoted(&cell));
    format!("{}\r\n", cells.join(","))
}

/// A cell. Spreadsheets take what begins like a formula for one, wherever it comes from; an apostrophe in front makes it
/// a text.
fn quoted(cell: &str) -> String {
    let is_number = cell.parse::<i64>().is_ok();
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && !is_number;
    let mark = if is_formula { "'" } else { "" };
    match is_formula || cell.contains([',', '"', '\r', '\n', ';', '\t']) {
        true => format!("\"{mark}{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

const PAGE: u64 = 500;

const COLUMNS: [&str; 23] = [
    "harvest",
    "repository",
    "base_url",
    "metadata_prefix",
    "set",
    "state",
    "started",
    "ended",
    "seconds",
    "attempts",
    "new",
    "updated",
    "unchanged",
    "deleted",
    "filtered",
    "repaired",
    "skipped",
    "failed",
    "requests",
    "bytes",
    "schedule",
    "job",
    "reason",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_formula_is_a_text() {
        assert_eq!(quoted("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        for start in ["+", "-", "@", "\t", "\r"] {
            let cell = quoted(&format!("{start}cmd"));
            assert!(cell.starts_with("\"'"), "{cell}");
        }
    }

    #[test]
    fn cells_are_quoted_where_they_have_to_be() {
        assert_eq!(quoted("oai_dc"), "oai_dc");
        assert_eq!(quoted("-7"), "-7");
        assert_eq!(quoted("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
        assert_eq!(line(["a".to_owned(), "b,c".to_owned()]), "a,\"b,c\"\r\n");
    }
}
