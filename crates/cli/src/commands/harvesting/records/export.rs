//! `garner records export`: all records of a query as one stream.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use flate2::Compression;
use flate2::write::GzEncoder;
use operations::records::{Export, ExportCounts, ExportFormat, RecordFilter, export};
use operations::{Context, Time};

use super::{Date, date};
use crate::commands::holdings_options::HoldingsOptions;
use crate::output::to_stdout;

/// Write all records that are held, or those of a query, as one stream
///
/// XML has the records as they were harvested, in one document with the root element records; deleted ones are headers.
/// JSON Lines and CSV have the fields of `garner records show --json` and the elements of Dublin Core.
///
/// Exits with 3 if files of records cannot be read; they are counted on stderr.
#[derive(Debug, Args)]
pub(super) struct ExportCommand {
    /// How records are written
    #[arg(long, value_enum, default_value = "xml")]
    format: Format,
    /// Only records in this format
    #[arg(long)]
    prefix: Option<String>,
    /// Only records of this repository
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// Only records of this set
    #[arg(long)]
    set: Option<String>,
    /// Only records that changed on this day or at this moment, or later
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<Date>,
    /// Only records with all of these words: sea coast, "a phrase", begin*
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    /// Only records that are not deleted
    #[arg(long)]
    live: bool,
    /// The file to write [default: stdout]; it takes its place when it is whole
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compress with gzip, as is done for files whose names end in .gz
    #[arg(long)]
    gzip: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Xml,
    Jsonl,
    Csv,
}

impl ExportCommand {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        let mut stream = self.stream(&context)?;
        match &self.output {
            None => to_stdout(|out| {
                write(&mut stream, out, self.gzip)?;
                Ok(ended(stream.counts()))
            }),
            Some(path) => {
                let gzip = self.gzip || path.extension().is_some_and(|end| end == "gz");
                to_file(&mut stream, path, gzip)?;
                Ok(ended(stream.counts()))
            }
        }
    }

    fn stream(&self, context: &Context) -> anyhow::Result<Export> {
        let repository = match &self.repository {
            Some(name) => Some(context.holdings().repository(name)?.id),
            None => None,
        };
        let since = self.since.as_ref();
        let filter = RecordFilter {
            text: self.query.clone(),
            repository,
            metadata_prefix: self.prefix.clone(),
            set: self.set.clone(),
            since: since.map(|date| Time(date.moment.seconds())),
            deleted: self.live.then_some(false),
            ..RecordFilter::default()
        };
        let format = match self.format {
            Format::Xml => ExportFormat::Xml,
            Format::Jsonl => ExportFormat::Jsonl,
            Format::Csv => ExportFormat::Csv,
        };
        Ok(export(context, filter, format))
    }
}

/// Writes a file beside its place, and puts it there when it is whole.
fn to_file(stream: &mut Export, path: &Path, gzip: bool) -> anyhow::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    let partial = PathBuf::from(name);
    let told = || format!("`{}` cannot be written", path.display());
    let written = (|| {
        let mut file = BufWriter::new(File::create(&partial)?);
        write(stream, &mut file, gzip)?;
        file.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        std::fs::rename(&partial, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    written.with_context(told)
}

fn write(stream: &mut Export, out: &mut impl Write, gzip: bool) -> io::Result<()> {
    if !gzip {
        return io::copy(stream, out).map(drop);
    }
    let mut encoder = GzEncoder::new(out, Compression::default());
    io::copy(stream, &mut encoder)?;
    encoder.finish().map(drop)
}

/// Tells what was written, and gives the exit code.
fn ended(counts: ExportCounts) -> ExitCode {
    let ExportCounts {
        records,
        deleted,
        unreadable,
    } = counts;
    eprintln!("exported {records} records and {deleted} deleted ones");
    if unreadable == 0 {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "the files of {unreadable} records cannot be read, so only their headers are there; garner verify names them"
    );
    ExitCode::from(3)
}
