//! `garner warc extract`: one record out of an archive.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use flows::{RecordPart, RecordWanted};

use super::output_file::write_file;
use crate::output::to_stdout;

/// Extract one record from an archive, by its offset or its URL
///
/// Writes the payload to stdout: without the head of HTTP, its chunks and its content codings. Of several records with
/// the URL the first response or resource is taken; garner warc index lists all with their offsets.
#[derive(Debug, Args)]
pub(crate) struct Extract {
    /// The archive
    file: PathBuf,
    /// The offset of the record, as garner warc index prints it, or its URL
    #[arg(value_name = "OFFSET|URL")]
    record: String,
    /// Write the payload; this is the default
    #[arg(long, conflicts_with_all = ["headers", "whole"])]
    payload: bool,
    /// Write the head of the record and that of HTTP
    #[arg(long, conflicts_with = "whole")]
    headers: bool,
    /// Write the whole record, expanded
    #[arg(long)]
    whole: bool,
    /// Write to this file instead of stdout; it takes its place when it is whole
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Extract {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let wanted = match self.record.parse() {
            Ok(offset) => RecordWanted::Offset(offset),
            Err(_) => RecordWanted::Url(self.record.clone()),
        };
        let part = match (self.headers, self.whole) {
            (true, _) => RecordPart::Headers,
            (_, true) => RecordPart::Record,
            _ => RecordPart::Payload,
        };
        let Some(path) = &self.output else {
            // Stdout may be locked by one thread only, and bodies are read on others.
            let mut out = std::io::stdout();
            return to_stdout_of(&mut out, |out| {
                flows::extract_record(&self.file, &wanted, part, out).map(drop)
            });
        };
        write_file(path, std::slice::from_ref(&self.file), |out| {
            flows::extract_record(&self.file, &wanted, part, out)
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes to stdout from any thread; a reader that has gone away is no error.
fn to_stdout_of(
    out: &mut (dyn Write + Send),
    write: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let written = write(out).and_then(|()| Ok(out.flush()?));
    to_stdout(|_| written.map(|()| ExitCode::SUCCESS))
}
