//! The records of the catalog, in pages, so that there may be any number of them.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use operations::records::{self, Record, RecordFilter, Validation};
use operations::{Context, Time};

use crate::commands::paging::each_row;
use crate::commands::records::{Records, status};
use crate::output::{Out, to_stdout, write_json};
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
    let limit = options.limit.unwrap_or(u64::MAX);
    to_stdout(|out| {
        each_row(limit, page, |record| Ok(write(options, &record, out)?))?;
        Ok(ExitCode::SUCCESS)
    })
}

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
        match record.validation {
            Validation::Filtered => "filtered",
            _ => status(record.deleted),
        },
        plain(&record.identifier),
        plain(path.as_deref().unwrap_or("-")),
    )
}
