//! The report of an import: one line of JSON for each thing that was left out, with its file and offset.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use catalog::{ImportEntry, ImportWarning};
use serde::Serialize;
use store::Reader;

use crate::{Holdings, ReportName};

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    offset: Option<u64>,
    reason: &'a str,
}

/// Where the report of an ended import is, if there is one. Of a store only the place is told: a report that is not there yet
/// is written when it is read.
pub fn import_report(holdings: &Holdings, import: &ImportEntry) -> anyhow::Result<Option<PathBuf>> {
    if !import.has_warnings || import.ended.is_none() {
        return Ok(None);
    }
    let name = ReportName::of_import(import.id, import.started);
    let place = holdings.report_place(&name)?;
    let is_there = holdings.are_reports_stored()? || place.is_file();
    Ok(is_there.then_some(place))
}

/// Opens the report of an import, which is written from the catalog if it is missing; `None` if there is nothing to tell.
pub fn open_import_report(
    holdings: &Holdings,
    id: i64,
    started: i64,
) -> anyhow::Result<Option<Reader>> {
    let name = ReportName::of_import(id, started);
    if let Some(report) = holdings.open_report(&name)? {
        return Ok(Some(report));
    }
    match write(holdings, id, started)? {
        Some(_) => holdings.open_report(&name),
        None => Ok(None),
    }
}

/// Writes the report of an import from what the catalog has, so that what was killed in between is neither missing nor
/// there twice. Returns where it is; `None` if there is nothing to tell.
pub fn write(holdings: &Holdings, import: i64, started: i64) -> anyhow::Result<Option<PathBuf>> {
    let name = ReportName::of_import(import, started);
    let path = holdings.report_file(&name);
    let mut out = None;
    let mut after = 0;
    loop {
        let warnings = holdings.catalog().import_warnings(import, after, PAGE);
        let warnings = holdings.wait(warnings)?;
        let Some(last) = warnings.last() else { break };
        after = last.0;
        let out = match &mut out {
            Some(out) => out,
            None => {
                if let Some(directory) = path.parent() {
                    std::fs::create_dir_all(directory).with_context(|| unwritten(directory))?;
                }
                out.insert(Report::create(&path)?)
            }
        };
        for (_, warning) in &warnings {
            out.add(warning)?;
        }
    }
    match out {
        Some(out) => {
            out.finish()?;
            holdings.keep_report(&name).map(Some)
        }
        None => Ok(None),
    }
}

/// A report that is being written; it takes its place when it is complete.
pub(super) struct Report {
    out: BufWriter<File>,
    path: PathBuf,
    written: PathBuf,
}

impl Report {
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let mut written = path.as_os_str().to_owned();
        written.push(".new");
        let written = PathBuf::from(written);
        let file = File::create(&written).with_context(|| unwritten(&written))?;
        Ok(Self {
            out: BufWriter::new(file),
            path: path.to_owned(),
            written,
        })
    }

    /// Adds to a report that is made when there is something to tell.
    pub(super) fn note(
        report: &mut Option<Self>,
        path: &Path,
        warnings: &[ImportWarning],
    ) -> anyhow::Result<()> {
        if warnings.is_empty() {
            return Ok(());
        }
        if report.is_none() {
            *report = Some(Self::create(path)?);
        }
        for warning in warnings {
            report
                .as_mut()
                .map_or(Ok(()), |report| report.add(warning))?;
        }
        Ok(())
    }

    pub(super) fn add(&mut self, warning: &ImportWarning) -> anyhow::Result<()> {
        let line = Line {
            file: &warning.file,
            offset: warning.offset,
            reason: &warning.reason,
        };
        let line = serde_json::to_string(&line)?;
        writeln!(self.out, "{line}").with_context(|| unwritten(&self.written))
    }

    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.out.flush().with_context(|| unwritten(&self.written))?;
        std::fs::rename(&self.written, &self.path).with_context(|| unwritten(&self.path))
    }
}

fn unwritten(path: &Path) -> String {
    format!("the report `{}` cannot be written", path.display())
}

const PAGE: u64 = 1000;
