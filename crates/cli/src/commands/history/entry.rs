//! All of one harvest: as text, and as JSON.

use std::io::{self, Write};

use catalog::{Counts, HistoryEntry, State, Warning};
use harvester::Quirks;
use serde::Serialize;
use serde_json::Value;

use super::table::state;
use crate::text::{date, duration, plain};

/// A harvest as JSON: dates as dates, and what is JSON already as what it is.
#[derive(Debug, Serialize)]
pub(crate) struct EntryJson<'a> {
    id: i64,
    repository: i64,
    base_url: &'a str,
    metadata_prefix: &'a str,
    set: Option<&'a str>,
    state: State,
    started: String,
    ended: Option<String>,
    attempts: i64,
    counts: &'a Counts,
    next_from: Option<&'a str>,
    failure_reason: Option<&'a str>,
    parameters: Value,
    quirks: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<&'a [Warning]>,
}

impl<'a> EntryJson<'a> {
    /// The entry, with its warnings if they are given.
    pub(crate) fn new(entry: &'a HistoryEntry, warnings: Option<&'a [Warning]>) -> Self {
        Self {
            id: entry.id,
            repository: entry.repository,
            base_url: &entry.base_url,
            metadata_prefix: &entry.metadata_prefix,
            set: entry.set.as_deref(),
            state: entry.state,
            started: date(entry.started),
            ended: entry.ended.map(date),
            attempts: entry.attempts,
            counts: &entry.counts,
            next_from: entry.next_from.as_deref(),
            failure_reason: entry.failure_reason.as_deref(),
            parameters: json(Some(&entry.parameters)),
            quirks: json(entry.quirks.as_deref()),
            warnings,
        }
    }
}

/// JSON that the catalog keeps as a text; an empty object if there is none.
pub(super) fn json(text: Option<&str>) -> Value {
    let value = text.and_then(|text| serde_json::from_str(text).ok());
    value.unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

/// Writes all of a harvest for people.
pub(crate) fn describe(
    out: &mut impl Write,
    entry: &HistoryEntry,
    warnings: &[Warning],
) -> io::Result<()> {
    writeln!(out, "harvest {}: {}", entry.id, state(entry.state))?;
    line(out, "repository", &entry.base_url)?;
    line(out, "format", &entry.metadata_prefix)?;
    if let Some(set) = &entry.set {
        line(out, "set", set)?;
    }
    line(out, "started", &date(entry.started))?;
    if let Some(ended) = entry.ended {
        let took = duration(ended - entry.started);
        line(out, "ended", &format!("{}, after {took}", date(ended)))?;
    }
    if entry.attempts > 1 {
        line(out, "begun", &format!("{} times", entry.attempts))?;
    }
    if let Some(from) = &entry.next_from {
        line(out, "next from", from)?;
    }
    if let Some(reason) = &entry.failure_reason {
        line(out, "reason", reason)?;
    }
    counts(out, &entry.counts)?;
    parameters(out, &entry.parameters)?;
    quirks(out, entry.quirks.as_deref())?;
    warned(out, warnings)
}

pub(super) fn line(out: &mut impl Write, name: &str, value: &str) -> io::Result<()> {
    writeln!(out, "{name:<12}  {}", plain(value))
}

fn counts(out: &mut impl Write, counts: &Counts) -> io::Result<()> {
    writeln!(out, "\ncounts")?;
    for (name, count) in [
        ("new", counts.new),
        ("updated", counts.updated),
        ("unchanged", counts.unchanged),
        ("deleted", counts.deleted),
        ("filtered", counts.filtered),
        ("repaired", counts.repaired),
        ("skipped", counts.skipped),
        ("failed", counts.failed),
        ("requests", counts.requests),
        ("bytes", counts.bytes),
    ] {
        writeln!(out, "  {name:<10}  {count:>12}")?;
    }
    Ok(())
}

pub(super) fn parameters(out: &mut impl Write, text: &str) -> io::Result<()> {
    let Value::Object(parameters) = json(Some(text)) else {
        return Ok(());
    };
    let given: Vec<_> = parameters
        .iter()
        .filter(|(_, value)| !value.is_null())
        .collect();
    if given.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nasked for")?;
    for (name, value) in given {
        let value = in_words(value);
        writeln!(out, "  {}: {}", plain(name), plain(&value))?;
    }
    Ok(())
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

fn quirks(out: &mut impl Write, text: Option<&str>) -> io::Result<()> {
    let quirks: Option<Quirks> = text.and_then(|text| serde_json::from_str(text).ok());
    let Some(quirks) = quirks.filter(|quirks| !quirks.is_empty()) else {
        return Ok(());
    };
    writeln!(out, "\noddities of the repository")?;
    for (quirk, count) in quirks.iter() {
        match count {
            1 => writeln!(out, "  {quirk} (once)")?,
            _ => writeln!(out, "  {quirk} ({count} times)")?,
        }
    }
    Ok(())
}

fn warned(out: &mut impl Write, warnings: &[Warning]) -> io::Result<()> {
    if warnings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nleft out or mended")?;
    for warning in warnings {
        match &warning.identifier {
            Some(identifier) => {
                writeln!(out, "  {}: {}", plain(identifier), plain(&warning.reason))?;
            }
            None => writeln!(out, "  {}", plain(&warning.reason))?,
        }
    }
    Ok(())
}
