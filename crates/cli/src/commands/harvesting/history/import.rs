//! Imports: a line each, or one with its counters and where its report is.

use std::io::{self, Write};

use catalog::ImportCounters;
use operations::Context;
use operations::harvests::WarningFilter;
use operations::imports::{self, Import, ImportFilter, ImportWarning};

use crate::commands::history::DEFAULT_ROWS;
use crate::commands::history::entry::{line, parameters};
use crate::commands::import::counted;
use crate::commands::paging::{each_row, limit};
use crate::human::{moment, number};
use crate::output::{Out, write_json};
use crate::table::{Cell, Column, Table};
use crate::text::{bytes, duration, plain};

/// Writes the report of an import.
pub(super) fn report(context: &Context, number: i64, out: &mut Out) -> anyhow::Result<()> {
    let mut report = context.wait(imports::report(context, number))?;
    io::copy(&mut report, out)?;
    Ok(())
}

/// Writes one import, or only its warnings.
pub(super) fn one(
    context: &Context,
    number: i64,
    warnings: bool,
    json: bool,
    out: &mut Out,
) -> anyhow::Result<()> {
    let import = context.wait(imports::show(context, number))?;
    if !warnings {
        match json {
            true => return Ok(write_json(out, &import)?),
            false => describe(out, &import)?,
        }
    }
    let mut is_first = !warnings;
    let page = |after, limit| {
        let filter = WarningFilter { after, limit };
        context.wait(imports::warnings(context, number, &filter))
    };
    each_row(u64::MAX, page, |warning: ImportWarning| {
        if json {
            return Ok(write_json(out, &warning)?);
        }
        if std::mem::take(&mut is_first) {
            writeln!(out, "\nskipped or repaired")?;
        }
        let offset = warning.offset.map(|offset| format!(" at {offset}"));
        let offset = offset.unwrap_or_default();
        let (file, reason) = (plain(&warning.file), plain(&warning.reason));
        Ok(writeln!(out, "  {file}{offset}: {reason}")?)
    })?;
    Ok(())
}

/// Writes the last imports, the newest first.
pub(super) fn list(
    context: &Context,
    given: Option<u64>,
    json: bool,
    out: &mut Out,
) -> anyhow::Result<()> {
    let limit = limit(given, DEFAULT_ROWS, json);
    let page = |before, limit| {
        let filter = ImportFilter {
            before,
            limit,
            ..ImportFilter::default()
        };
        context.wait(imports::list(context, &filter))
    };
    let mut table = Table::to_stdout(&COLUMNS);
    let rows = each_row(limit, page, |import: Import| {
        match json {
            true => write_json(out, &import)?,
            false => table.row(out, cells(&import))?,
        }
        Ok(())
    })?;
    table.finish(out)?;
    out.flush()?;
    if rows.shown == 0 && limit > 0 {
        eprintln!("nothing was imported yet");
    }
    if !json {
        rows.say_rest("--limit N");
    }
    Ok(())
}

const COLUMNS: [Column; 10] = [
    Column::number("no."),
    Column::word("started"),
    Column::word("took").dispensable(3),
    Column::word("state"),
    Column::number("captures"),
    Column::number("new"),
    Column::number("duplicates").dispensable(2),
    Column::number("filtered").dispensable(1),
    Column::number("not read").dispensable(4),
    Column::text("sources", 20),
];

fn cells(import: &Import) -> Vec<Cell> {
    let counters = &import.counters;
    vec![
        import.id.into(),
        Cell::time(Some(import.started)),
        Cell::duration(import.seconds()),
        Cell::state(import.state.name()),
        Cell::count(counters.all),
        Cell::count(counters.saved_new),
        Cell::count(counters.saved_duplicate),
        Cell::count(counters.filtered),
        Cell::count(missing(counters)),
        sources(import).into(),
    ]
}

fn sources(import: &Import) -> String {
    let mut what = import.sources_in_words();
    if import.kept_nothing && import.reason.is_none() {
        what = format!("{}; {what}", imports::KEPT_NOTHING);
    }
    if let Some(reason) = &import.reason {
        what.push_str(&format!(": {reason}"));
    }
    what
}

/// Captures that were skipped or failed.
fn missing(counters: &ImportCounters) -> u64 {
    counters.skipped_records
        + counters.failed_read
        + counters.failed_save
        + counters.failed_file_not_found
        + counters.failed_text_extract
}

fn describe(out: &mut impl Write, import: &Import) -> io::Result<()> {
    writeln!(out, "import {}: {}", import.id, import.state_in_words())?;
    line(out, "started", &moment(Some(import.started)))?;
    if let (Some(ended), Some(seconds)) = (import.ended, import.seconds()) {
        line(
            out,
            "ended",
            &format!("{}, after {}", moment(Some(ended)), duration(seconds)),
        )?;
    }
    if import.attempts > 1 {
        line(out, "attempts", &import.attempts.to_string())?;
    }
    line(out, "by", &import.worker)?;
    if let Some(job) = import.job {
        line(out, "job", &job.to_string())?;
    }
    if let Some(schedule) = import.schedule {
        line(out, "schedule", &schedule.to_string())?;
    }
    if let Some(reason) = &import.reason {
        line(out, "reason", reason)?;
    }
    if let Some(report) = &import.report {
        line(out, "report", &report.to_string())?;
    }
    writeln!(out, "\ncounters")?;
    for (name, count) in counted(&import.counters) {
        writeln!(out, "  {name:<22}  {:>14}", number(count))?;
    }
    writeln!(out, "\nsources")?;
    for source in &import.sources {
        let state = match source.done {
            true => "read to its end",
            false => "to be resumed",
        };
        let (name, position) = (plain(&source.source), source.position);
        writeln!(out, "  {name}: {}, {state}", bytes(position))?;
    }
    parameters(out, &import.parameters_in_words())
}
