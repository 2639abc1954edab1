//! `garner extract`: the import without a catalog, for many machines.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use catalog::ImportState;
use clap::Args;
use flows::{Extracted, Extraction, ImportEvent, ImportOrder, StoredSource};
use harvester::Stop;
use operations::{ImportPatch, Mistake, Refusal};

use super::LEFT_OUT;
use super::confine::confiner;
use crate::config::Config;
use crate::output::write_json;
use crate::text::plain;

/// Extract documents and their texts from archives as Parquet files, without a catalog
///
/// Reads WARC, ARC and WACZ files as garner import does, with the same filters, and writes one Parquet file for each
/// below OUTPUT/documents: a row for each capture that was kept or judged. What is in it follows from the archive, the
/// options and the version of garner alone, so any number of machines may extract, also the same file twice. The entry
/// of an archive in OUTPUT/_sources is written last; an archive that has one is not read again. DuckDB, pandas and Spark
/// read the results, and garner load takes them into a catalog.
///
/// Without PATH, or with -, paths come from stdin, one a line. One line tells what came of each file.
///
/// Exits with 0 if all was extracted, with 3 if something could not be read, and with 1 if nothing could be extracted.
#[derive(Debug, Args)]
pub(crate) struct Extract {
    /// Archives, or directories of archives; - reads paths from stdin
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Where results go
    #[arg(long, short, value_name = "DIR|s3://BUCKET/PREFIX")]
    output: String,
    /// Extract the bytes of documents too, as WARC files with CDXJ indexes: loading needs no sources then
    #[arg(long)]
    bytes: bool,
    /// A configuration file in TOML, on top of /etc/garner/garner.toml and ~/.config/garner/garner.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print one JSON object for each file
    #[arg(long)]
    json: bool,
    /// Extract nothing, and list the files whose results with these options are complete
    #[arg(long, conflicts_with = "paths")]
    complete: bool,
    #[command(flatten)]
    patch: ImportPatch,
}

/// How many files ended how.
#[derive(Default)]
struct Tally {
    complete: u64,
    incomplete: u64,
    failed: u64,
}

impl Extract {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let order = match self.order() {
            Ok(order) => order,
            Err(error) => return Ok(super::usage("extract", &error)),
        };
        super::allow_many_files();
        let extraction = Extraction::open(order, &self.output, self.bytes)?;
        let mut tally = Tally::default();
        if self.complete {
            for extracted in extraction.complete_results()? {
                self.done(&extracted, &mut tally)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let stop = Stop::default();
        super::import::stop_on_signal(stop.clone())?;
        let is_dash = |path: &PathBuf| path == Path::new("-");
        for path in self.paths.iter().filter(|path| !is_dash(path)) {
            self.path(&extraction, path, &stop, &mut tally)?;
        }
        if self.paths.is_empty() || self.paths.iter().any(is_dash) {
            for line in std::io::stdin().lock().lines() {
                let line = line?;
                let path = Path::new(line.trim());
                if path != Path::new("") && !stop.is_set() {
                    self.path(&extraction, path, &stop, &mut tally)?;
                }
            }
        }
        Ok(match tally {
            _ if stop.is_set() => ExitCode::FAILURE,
            Tally {
                complete: 0,
                incomplete: 0,
                failed: 1..,
            } => ExitCode::FAILURE,
            Tally {
                incomplete: 0,
                failed: 0,
                ..
            } => ExitCode::SUCCESS,
            _ => ExitCode::from(LEFT_OUT),
        })
    }

    /// The order of each file.
    fn order(&self) -> anyhow::Result<ImportOrder> {
        let config = Config::load(self.config.as_deref())?.import;
        let mut order = config.order()?;
        let mut mistakes = self.patch.apply(&mut order);
        let of_imports = [
            ("log", order.log.is_some(), "garner import reads logs"),
            ("root", order.root.is_some(), "garner import reads mirrors"),
            (
                "base_url",
                order.base_url.is_some(),
                "garner import reads directories of files",
            ),
            (
                "ocr",
                order.texts.ocr,
                "scans are recognised later: garner classify --collection --ocr",
            ),
            (
                "lists",
                !order.lists.is_empty(),
                "kept blacklists are in a catalog; name a file with --blacklist",
            ),
            (
                "mirror_deletions",
                order.mirror_deletions,
                "garner import follows the deletions of a site",
            ),
            (
                "versions",
                order.keep_versions,
                "garner load decides on versions",
            ),
        ];
        for (field, _, reason) in of_imports.into_iter().filter(|(_, is_given, _)| *is_given) {
            mistakes.push(Mistake::new(
                field,
                format!("this cannot be extracted; {reason}"),
            ));
        }
        order.collection = None;
        order.paths = vec![PathBuf::from("-")];
        mistakes.extend(order.check());
        order.paths.clear();
        for mistake in &mut mistakes {
            if mistake.field == Some("threads") {
                mistake.field = Some("--jobs");
            }
        }
        Refusal::unless_empty(mistakes)?;
        order.confiner = Some(confiner());
        Ok(order)
    }

    /// Extracts what is at a path.
    fn path(
        &self,
        extraction: &Extraction,
        path: &Path,
        stop: &Stop,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        if StoredSource::is_meant(path) {
            return match self.stored(extraction, path, stop, tally) {
                Ok(()) => Ok(()),
                Err(error) => self.failed(path, &error, tally),
            };
        }
        let files = match flows::archives_at(path) {
            Ok(files) => files,
            Err(error) => return self.failed(path, &error, tally),
        };
        for file in files {
            if stop.is_set() {
                return Ok(());
            }
            let tell = |event: ImportEvent<'_>| {
                if let ImportEvent::Note(note) = event {
                    eprintln!("{}", plain(note));
                }
            };
            match extraction.extract(&file, &file, stop, &tell) {
                Ok(extracted) => self.done(&extracted, tally)?,
                Err(error) => self.failed(&file, &error, tally)?,
            }
        }
        Ok(())
    }

    /// Extracts the archives of a place in a store, each fetched when it is its turn and removed after it.
    fn stored(
        &self,
        extraction: &Extraction,
        place: &Path,
        stop: &Stop,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.bytes,
            "archives of a store are not kept here, and garner load would not find the documents: give --bytes"
        );
        let source = StoredSource::look(place)?;
        let tell = |event: ImportEvent<'_>| {
            if let ImportEvent::Note(note) = event {
                eprintln!("{}", plain(note));
            }
        };
        source.each(stop, &tell, &mut |file, fetched| {
            let name = PathBuf::from(source.shown(file));
            let extracted = fetched.and_then(|here| extraction.extract(here, &name, stop, &tell));
            match extracted {
                Ok(extracted) => self.done(&extracted, tally),
                Err(error) => self.failed(&name, &error, tally),
            }
        })
    }

    fn done(&self, extracted: &Extracted, tally: &mut Tally) -> anyhow::Result<()> {
        match extracted.state {
            ImportState::Ok => tally.complete += 1,
            _ => tally.incomplete += 1,
        }
        if self.json {
            return line(extracted);
        }
        let how = match extracted.reused {
            true => "was extracted before",
            false => "extracted",
        };
        let reason = extracted.reason.iter().map(|reason| format!("; {reason}"));
        let said = format!(
            "{}: {how}, {} rows, {} documents{}",
            extracted.file,
            extracted.rows,
            extracted.counters.saved_new + extracted.counters.saved_duplicate,
            reason.collect::<String>()
        );
        super::print(format!("{}\n", plain(&said)).as_bytes())
    }

    fn failed(&self, path: &Path, error: &anyhow::Error, tally: &mut Tally) -> anyhow::Result<()> {
        tally.failed += 1;
        let message = flows::message(error);
        let file = path.display().to_string();
        if !self.json {
            eprintln!("{}", plain(&format!("{file}: {message}")));
            return Ok(());
        }
        line(&serde_json::json!({
            "file": file,
            "state": "failed",
            "error": { "code": operations::error_code(error), "message": message },
        }))
    }
}

/// Writes a line, which whoever waits for it gets now.
fn line(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = Vec::new();
    write_json(&mut text, value)?;
    super::print(&text)?;
    std::io::stdout()
        .flush()
        .or_else(|error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(error),
        })?;
    Ok(())
}
