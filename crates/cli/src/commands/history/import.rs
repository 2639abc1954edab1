//! Imports: a line each, or all of one with its counters and where its report is.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use catalog::{ImportCounters, ImportEntry, ImportQuery, ImportState, ImportWarning};
use jobs::Holdings;
use serde::Serialize;
use serde_json::Value;

use super::entry::{json, line, parameters};
use crate::commands::import::counted;
use crate::output::{Out, write_json};
use crate::text::{columns, date, duration, plain, shortened};

/// An import as JSON: dates as dates, and what is JSON already as what it is.
#[derive(Serialize)]
struct ImportJson<'a> {
    id: i64,
    job: Option<i64>,
    schedule: Option<i64>,
    worker: &'a str,
    state: ImportState,
    started: String,
    ended: Option<String>,
    attempts: i64,
    counters: &'a ImportCounters,
    reason: Option<&'a str>,
    parameters: Value,
    sources: &'a [catalog::SourcePosition],
    report: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<ImportWarning>>,
}

impl<'a> ImportJson<'a> {
    fn new(entry: &'a ImportEntry, report: Option<&Path>) -> Self {
        Self {
            id: entry.id,
            job: entry.job,
            schedule: entry.schedule,
            worker: &entry.worker,
            state: entry.state,
            started: date(entry.started),
            ended: entry.ended.map(date),
            attempts: entry.attempts,
            counters: &entry.counters,
            reason: entry.reason.as_deref(),
            parameters: json(Some(&entry.parameters)),
            sources: &entry.sources,
            report: report.map(|path| path.display().to_string()),
            warnings: None,
        }
    }
}

/// Writes all of one import.
pub(super) fn one(
    holdings: &Holdings,
    number: i64,
    as_json: bool,
    out: &mut Out,
) -> anyhow::Result<()> {
    let entry = holdings.wait(holdings.catalog().import(number))?;
    let entry = entry.with_context(|| {
        format!("there is no import {number}; garner history --imports shows those that are there")
    })?;
    let report = jobs::import_report(holdings, number);
    if as_json {
        let mut told = ImportJson::new(&entry, report.as_deref());
        let mut warnings = Vec::new();
        each_warning(holdings, number, |warning| {
            warnings.push(warning);
            Ok(())
        })?;
        told.warnings = Some(warnings);
        return Ok(write_json(out, &told)?);
    }
    describe(out, &entry, report.as_deref())?;
    let mut is_first = true;
    each_warning(holdings, number, |warning| {
        if std::mem::take(&mut is_first) {
            writeln!(out, "\nleft out or mended")?;
        }
        let offset = warning.offset.map(|offset| format!(" at {offset}"));
        let offset = offset.unwrap_or_default();
        let (file, reason) = (plain(&warning.file), plain(&warning.reason));
        writeln!(out, "  {file}{offset}: {reason}")
    })
}

/// Writes the last imports, the newest first.
pub(super) fn list(
    holdings: &Holdings,
    limit: u64,
    as_json: bool,
    out: &mut Out,
) -> anyhow::Result<()> {
    let (mut left, mut before) = (limit, None);
    while left > 0 {
        let query = ImportQuery {
            before,
            limit: left.min(PAGE),
            ..ImportQuery::default()
        };
        let entries = holdings.wait(holdings.catalog().imports(&query))?;
        for entry in &entries {
            if as_json {
                let report = jobs::import_report(holdings, entry.id);
                write_json(out, &ImportJson::new(entry, report.as_deref()))?;
                continue;
            }
            if before.is_none() && Some(entry.id) == entries.first().map(|first| first.id) {
                writeln!(out, "{HEAD}")?;
            }
            writeln!(out, "{}", row(entry))?;
        }
        let Some(last) = entries.last() else { break };
        before = Some(last.id);
        left = left.saturating_sub(entries.len() as u64);
    }
    if before.is_none() && limit > 0 {
        eprintln!("nothing was imported yet");
    }
    Ok(())
}

fn row(entry: &ImportEntry) -> String {
    let counters = &entry.counters;
    let took = entry.ended.map(|ended| duration(ended - entry.started));
    let line = format!(
        "{:>4}  {}  {:>7}  {:<10} {:>8} {:>7} {:>7} {:>8} {:>6}  ",
        entry.id,
        date(entry.started),
        took.as_deref().unwrap_or("-"),
        entry.state.name(),
        counters.all,
        counters.saved_new,
        counters.saved_duplicate,
        counters.filtered,
        left_out(counters),
    );
    let what = plain(&what(entry)).to_string();
    match columns() {
        Some(columns) => {
            let room = columns.saturating_sub(line.len());
            line + &shortened(&what, room)
        }
        None => line + &what,
    }
}

/// What was read, and why it is not all there is.
fn what(entry: &ImportEntry) -> String {
    let mut what = match &entry.sources[..] {
        [] => String::new(),
        [source] => source.source.clone(),
        [source, others @ ..] => format!("{} and {} more", source.source, others.len()),
    };
    if let Some(reason) = &entry.reason {
        what.push_str(&format!(": {reason}"));
    }
    what
}

fn left_out(counters: &ImportCounters) -> u64 {
    counters.skipped_records
        + counters.failed_read
        + counters.failed_save
        + counters.failed_file_not_found
        + counters.failed_text_extract
}

fn describe(out: &mut impl Write, entry: &ImportEntry, report: Option<&Path>) -> io::Result<()> {
    writeln!(out, "import {}: {}", entry.id, entry.state.name())?;
    line(out, "started", &date(entry.started))?;
    if let Some(ended) = entry.ended {
        let took = duration(ended - entry.started);
        line(out, "ended", &format!("{}, after {took}", date(ended)))?;
    }
    if entry.attempts > 1 {
        line(out, "begun", &format!("{} times", entry.attempts))?;
    }
    line(out, "by", &entry.worker)?;
    if let Some(job) = entry.job {
        line(out, "job", &job.to_string())?;
    }
    if let Some(schedule) = entry.schedule {
        line(out, "schedule", &schedule.to_string())?;
    }
    if let Some(reason) = &entry.reason {
        line(out, "reason", reason)?;
    }
    if let Some(report) = report {
        line(out, "report", &report.display().to_string())?;
    }
    writeln!(out, "\ncounters")?;
    for (name, count) in counted(&entry.counters) {
        writeln!(out, "  {name:<22}  {count:>14}")?;
    }
    writeln!(out, "\nsources")?;
    for source in &entry.sources {
        let state = match source.done {
            true => "read to its end",
            false => "to be gone on with",
        };
        let (name, position) = (plain(&source.source), source.position);
        writeln!(out, "  {name}: {position} bytes, {state}")?;
    }
    parameters(out, &entry.parameters)
}

/// Goes over all that was left out, a page at a time.
fn each_warning(
    holdings: &Holdings,
    import: i64,
    mut each: impl FnMut(ImportWarning) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut after = 0;
    loop {
        let page = holdings.catalog().import_warnings(import, after, PAGE);
        let page = holdings.wait(page)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.0;
        for (_, warning) in page {
            each(warning)?;
        }
    }
}

const HEAD: &str = " no.  started                  took  state       captures     new   known filtered   left  \
     what, and why it is not all";
const PAGE: u64 = 500;
