//! `garner warc index`: CDXJ indexes of archives.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use flows::IndexedWarc;

use super::output_file::write_file;
use crate::commands::LEFT_OUT;
use crate::output::to_stdout;
use crate::text::plain;

/// Write a CDXJ index of the responses, resources and revisits of archives
///
/// The lines are those of cdxj-indexer: sort key, date, and JSON with URL, media type, status, digest, length, offset and
/// file name. Damaged records are named on stderr and are not in the index.
///
/// Exits with 0 if all was read, with 3 if something could not be read, and with 1 if a file is no archive.
#[derive(Debug, Args)]
pub(crate) struct Index {
    /// Archives, or directories of archives
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the index to this file instead of stdout; it takes its place when it is whole
    #[arg(long, short, value_name = "FILE", conflicts_with = "beside")]
    output: Option<PathBuf>,
    /// Write a sorted index of each file beside it, as FILE.cdxj
    #[arg(long)]
    beside: bool,
    /// Sort the lines of all files
    #[arg(long, short)]
    sort: bool,
}

impl Index {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        if self.beside {
            return self.beside();
        }
        if let Some(path) = &self.output {
            return write_file(path, &self.files, |out| self.write(out));
        }
        to_stdout(|out| self.write(out))
    }

    fn beside(&self) -> anyhow::Result<ExitCode> {
        let mut has_skipped = false;
        for file in &self.files {
            let (place, indexed) = flows::index_beside(file)?;
            has_skipped |= tell(&indexed);
            let lines = indexed.lines.len();
            eprintln!("{}: {lines} lines", plain(&place.to_string_lossy()));
        }
        Ok(code(has_skipped))
    }

    fn write(&self, out: &mut (impl Write + ?Sized)) -> anyhow::Result<ExitCode> {
        let mut has_skipped = false;
        let mut all = Vec::new();
        for file in &self.files {
            let indexed = flows::index_archive(file)?;
            has_skipped |= tell(&indexed);
            match self.sort {
                true => all.extend(indexed.lines),
                false => {
                    for line in &indexed.lines {
                        out.write_all(line.to_line().as_bytes())?;
                    }
                }
            }
        }
        all.sort_unstable();
        for line in &all {
            out.write_all(line.to_line().as_bytes())?;
        }
        Ok(code(has_skipped))
    }
}

/// Names what could not be read; whether there is any.
fn tell(indexed: &IndexedWarc) -> bool {
    for skipped in &indexed.skipped {
        let line = format!("{}: {}", skipped.place, skipped.reason);
        eprintln!("{}", plain(&line));
    }
    !indexed.skipped.is_empty()
}

fn code(has_skipped: bool) -> ExitCode {
    match has_skipped {
        true => ExitCode::from(LEFT_OUT),
        false => ExitCode::SUCCESS,
    }
}
