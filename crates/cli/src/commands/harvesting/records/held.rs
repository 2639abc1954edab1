//! The records of the catalog, in pages, so that there may be any number of them.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use operations::records::{self, Record, RecordFilter, Validation};
use operations::{Context, Time, statistics};

use crate::commands::paging::{each_row, limit};
use crate::commands::records::{Records, status};
use crate::output::{Out, to_stdout, write_json};
use crate::table::{Cell, Column, Table};
use crate::text::plain;

pub(super) fn run(options: &Records) -> anyhow::Result<ExitCode> {
    let context = options.holdings.context()?;
    let filter = filter(options, &context)?;
    let page = |next: Option<i64>, limit| {
        let filter = match options.sorting.sort.is_some() || options.sorting.descending {
            false => RecordFilter {
                after: next.or(Some(0)),
                limit,
                ..filter.clone()
            },
            true => RecordFilter {
                behind: next,
                limit,
                ..filter.clone()
            },
        };
        context.wait(records::list(&context, &filter))
    };
    let is_table = !options.json && !options.files;
    let limit = limit(options.limit, DEFAULT_ROWS, !is_table);
    to_stdout(|out| {
        let mut table = Table::on_terminal(&COLUMNS).filter(|_| is_table);
        let mut rows = each_row(limit, page, |record| {
            match &mut table {
                Some(table) => table.row(out, cells(&record))?,
                None => write(options, &record, out)?,
            }
            Ok(())
        })?;
        if let Some(table) = table {
            table.finish(out)?;
            out.flush()?;
            rows.total = total(&context, &filter)?;
            rows.say_rest("--limit N");
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// All records of a filter, where they can be counted quickly.
fn total(context: &Context, filter: &RecordFilter) -> anyhow::Result<Option<u64>> {
    let is_part = filter.repository.is_some()
        || filter.metadata_prefix.is_some()
        || filter.set.is_some()
        || filter.since.is_some()
        || filter.deleted.is_some();
    if !is_part {
        let totals = context.wait(statistics::totals(context))?;
        return Ok(Some(totals.records + totals.deleted));
    }
    let counted = RecordFilter {
        count: Some(true),
        limit: Some(1),
        ..filter.clone()
    };
    let counted = context.wait(records::list(context, &counted))?;
    Ok(counted.total.filter(|_| !counted.is_more))
}

const COLUMNS: [Column; 6] = [
    Column::word("datestamp"),
    Column::word("state"),
    Column::text("title", 12).dispensable(1),
    Column::word("format").dispensable(3),
    Column::text("identifier", 16),
    Column::text("file", 12).dispensable(2),
];

fn cells(record: &Record) -> Vec<Cell> {
    let datestamp = record.datestamp.map(|time| time.to_string());
    vec![
        datestamp.as_deref().unwrap_or("-").into(),
        Cell::state(state(record)),
        record.title.as_deref().unwrap_or_default().into(),
        record.metadata_prefix.as_str().into(),
        record.identifier.as_str().into(),
        record
            .path
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
            .into(),
    ]
}

fn state(record: &Record) -> &'static str {
    match record.validation {
        Validation::Filtered => "filtered",
        _ => status(record.deleted),
    }
}

/// Rows on a terminal without --limit.
const DEFAULT_ROWS: u64 = 30;

fn filter(options: &Records, context: &Context) -> anyhow::Result<RecordFilter> {
    let repository = match &options.repository {
        Some(name) => Some(context.holdings().repository(name)?.id),
        None => None,
    };
    let since = options.since.as_ref();
    Ok(RecordFilter {
        repository,
        metadata_prefix: options.prefix.clone(),
        set: options.set.clone(),
        since: since.map(|date| Time(date.moment.seconds())),
        sort: options.sorting.sort.clone(),
        descending: Some(options.sorting.descending),
        deleted: (options.deleted || options.live).then_some(options.deleted),
        ..RecordFilter::default()
    })
}

fn write(options: &Records, record: &Record, out: &mut Out) -> io::Result<()> {
    if options.json {
        return write_json(out, record);
    }
    let path = record.path.as_ref();
    if options.files {
        let Some(path) = path else { return Ok(()) };
        // For other programs: the very bytes.
        out.write_all(path.as_path().as_os_str().as_bytes())?;
        return out.write_all(b"\n");
    }
    let datestamp = record.datestamp.map(|time| time.to_string());
    let path = path.map(ToString::to_string);
    writeln!(
        out,
        "{}\t{}\t{}\t{}",
        datestamp.as_deref().unwrap_or("-"),
        state(record),
        plain(&record.identifier),
        plain(path.as_deref().unwrap_or("-")),
    )
}
