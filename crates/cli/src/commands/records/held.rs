//! The records of the catalog, in pages, so that there may be any number of them.

use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use catalog::{RecordEntry, RecordQuery, Repository, Validation};
use jobs::Holdings;
use serde::Serialize;

use super::{Records, status};
use crate::output::{Out, to_stdout, write_json};
use crate::text::{date, plain};

pub(super) fn run(options: &Records) -> anyhow::Result<ExitCode> {
    let holdings = options.holdings.open()?;
    let query = query(options, &holdings)?;
    to_stdout(|out| {
        list(options, &holdings, query, out)?;
        Ok(ExitCode::SUCCESS)
    })
}

fn query(options: &Records, holdings: &Holdings) -> anyhow::Result<RecordQuery> {
    let repository = match &options.repository {
        Some(name) => Some(holdings.repository(name)?.id),
        None => None,
    };
    Ok(RecordQuery {
        repository,
        metadata_prefix: options.prefix.clone(),
        set: options.set.clone(),
        since: options.since.as_ref().map(|date| date.moment.seconds()),
        deleted: (options.deleted || options.live).then_some(options.deleted),
        ..RecordQuery::default()
    })
}

fn list(
    options: &Records,
    holdings: &Holdings,
    mut query: RecordQuery,
    out: &mut Out,
) -> anyhow::Result<()> {
    let repositories = holdings.wait(holdings.catalog().repositories())?;
    let repositories: HashMap<_, _> = repositories.iter().map(|known| (known.id, known)).collect();
    let mut left = options.limit.unwrap_or(u64::MAX);
    while left > 0 {
        query.limit = left.min(PAGE);
        let records = holdings.wait(holdings.catalog().records(&query))?;
        let Some(last) = records.last() else { break };
        query.after = last.id;
        left -= records.len() as u64;
        for record in &records {
            let repository = repositories.get(&record.repository);
            let file = repository.and_then(|repository| path(holdings, repository, record));
            write(options, record, repository.copied(), file.as_deref(), out)?;
        }
    }
    Ok(())
}

/// Where the file of a record lies, from where the program runs.
fn path(holdings: &Holdings, repository: &Repository, record: &RecordEntry) -> Option<PathBuf> {
    let directory = holdings.record_directory(repository, &record.metadata_prefix);
    Some(directory.join(record.file.as_deref()?))
}

fn write(
    options: &Records,
    record: &RecordEntry,
    repository: Option<&Repository>,
    file: Option<&Path>,
    out: &mut Out,
) -> io::Result<()> {
    if options.files {
        return match file {
            // For other programs: the very bytes, which the user and the store have chosen.
            Some(file) => {
                out.write_all(file.as_os_str().as_bytes())?;
                out.write_all(b"\n")
            }
            None => Ok(()),
        };
    }
    let datestamp = record.datestamp.map(date);
    let file = file.map(|file| file.to_string_lossy());
    if options.json {
        let record = RecordJson {
            repository: record.repository,
            base_url: repository.map(|repository| repository.base_url.as_str()),
            metadata_prefix: &record.metadata_prefix,
            identifier: &record.identifier,
            datestamp: datestamp.as_deref(),
            deleted: record.deleted,
            set_specs: &record.set_specs,
            file: file.as_deref(),
            sha256: record.sha256.as_deref(),
            harvested: date(record.harvested),
            validation: record.validation,
        };
        return write_json(out, &record);
    }
    writeln!(
        out,
        "{}\t{}\t{}\t{}",
        datestamp.as_deref().unwrap_or("-"),
        match record.validation {
            Validation::Filtered => "filtered",
            _ => status(record.deleted),
        },
        plain(&record.identifier),
        plain(file.as_deref().unwrap_or("-")),
    )
}

/// A record that is held.
#[derive(Serialize)]
struct RecordJson<'a> {
    repository: i64,
    base_url: Option<&'a str>,
    metadata_prefix: &'a str,
    identifier: &'a str,
    datestamp: Option<&'a str>,
    deleted: bool,
    set_specs: &'a [String],
    file: Option<&'a str>,
    sha256: Option<&'a str>,
    harvested: String,
    validation: Validation,
}

const PAGE: u64 = 500;
