//! `garner import`: turns what crawlers left into a collection of documents.

mod lines;
mod settings;
mod summary;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use catalog::{ImportState, NewJob};
use clap::{Args, ValueEnum};
use harvester::Stop;
use jobs::{ImportCrawl, Imported};

use self::lines::Lines;
use super::LEFT_OUT;
use super::holdings_options::HoldingsOptions;
use crate::config::{Config, ImportConfig};

/// Import what crawlers left behind into a collection of documents
///
/// WARC and ARC files, compressed or not, WACZ files, and directories of them are told by their content, not by their
/// names. Mirrors and downloads are imported with the list of what is in them: see --log. PDF and PostScript documents
/// are taken, whatever the server called them; see --types for others. Nothing is fetched from the web.
///
/// Documents go to DIR/documents, each with its digests, URL, parent and dates in the catalog DIR/catalog.sqlite. The same
/// bytes are kept once. An import that was interrupted goes on where it was, and one that is done again changes nothing.
///
/// Exits with 0 if all was imported, with 3 if something could not be read, and with 1 if the import failed.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Archives, directories of archives, or the directory of a mirror
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// A configuration file with a table [import]; flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Documents go to this folder and not into the catalog; the same bytes are kept once
    #[arg(long, value_name = "DIR", conflicts_with = "dry_run")]
    no_database: Option<PathBuf>,
    /// Read, filter and count everything, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Put the import into the queue of garner up and garner worker, which see PATH under the same name
    #[arg(long, conflicts_with_all = ["dry_run", "no_database", "json"])]
    queue: bool,
    /// How many threads read and examine [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Print the counters as JSON
    #[arg(long)]
    json: bool,
    /// Say nothing while the import goes on
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten, next_help_heading = "What is taken")]
    taking: Taking,
    #[command(flatten, next_help_heading = "Where facts come from")]
    facts: Facts,
}

/// Which documents are taken, and what is kept of them.
#[derive(Debug, Args)]
struct Taking {
    /// The media types that are taken [default: application/pdf,application/postscript]
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    types: Vec<String>,
    /// Containers that are opened for the documents in them: gzip, tar, zip, or none [default: gzip]
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    open: Vec<String>,
    /// Whether documents are judged by what they say, not only by their type [default: off]
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    content_filter: Option<Switch>,
    /// A file of hosts and beginnings of URLs that are not wanted, one a line
    #[arg(long, value_name = "FILE")]
    blacklist: Option<PathBuf>,
    /// Longer URLs are refused [default: 2048]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=1_000_000))]
    max_url_length: Option<u32>,
    /// What becomes of the older content of a document that changed [default: replace]
    #[arg(long, value_enum)]
    versions: Option<Versions>,
    /// Do not wait until files have reached the disk: faster, and a loss of power can cost some
    #[arg(long)]
    no_sync: bool,
}

/// What is known beside the archives.
#[derive(Debug, Args)]
struct Facts {
    /// The crawler's log: what archives lack is taken from it. With a directory of files it says which are imported
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The format of the log: heritrix, list, ftp-list, pmc, or a TOML file that describes another [default: heritrix]
    #[arg(long, value_name = "NAME|FILE", requires = "log")]
    log_format: Option<String>,
    /// The directory that the files of the log lie in
    #[arg(long, value_name = "DIR", requires = "log")]
    root: Option<PathBuf>,
    /// What the URLs begin with, where a log only has paths. Without a log, those of all files below PATH
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The name of the crawler, for the .met files beside the documents
    #[arg(long, value_name = "NAME")]
    crawler: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Versions {
    /// The newer takes its place
    Replace,
    /// Both are kept
    Keep,
}

impl Import {
    pub(crate) fn run(mut self) -> anyhow::Result<ExitCode> {
        let config = match &self.config {
            Some(file) => Config::read(file)?,
            None => Config::default(),
        };
        self.holdings = self.holdings.configured(&config);
        let config = config.import;
        let order = match settings::order(&self, &config) {
            Ok(order) => order,
            Err(error) => return Ok(usage(&error)),
        };
        if self.queue {
            return self.enqueue(&order);
        }
        super::allow_many_files();
        let stop = Stop::default();
        let lines = Lines::new(self.quiet);
        let imported = self.import(&config, &order, &stop, &lines);
        lines.clear();
        let imported = imported?;
        summary::write(&self, &imported)?;
        Ok(match imported.state {
            ImportState::Ok => ExitCode::SUCCESS,
            ImportState::Incomplete => ExitCode::from(LEFT_OUT),
            ImportState::Failed | ImportState::Running => ExitCode::FAILURE,
        })
    }

    /// Puts the import into the queue, for whoever looks for work.
    fn enqueue(&self, order: &ImportCrawl) -> anyhow::Result<ExitCode> {
        for path in order.paths.iter().chain(&order.log) {
            std::fs::metadata(path)
                .with_context(|| format!("`{}` cannot be read", path.display()))?;
        }
        let holdings = self.holdings.create()?;
        let job = NewJob {
            max_attempts: jobs::ATTEMPTS,
            created_by: Some(BY.to_owned()),
            ..NewJob::import(order.text()?)
        };
        let job = holdings.wait(holdings.catalog().add_job(&job))?;
        let said = self.holdings.said();
        eprintln!(
            "job {} waits for a worker; garner job show {}{said} --follow",
            job.id, job.id
        );
        Ok(ExitCode::SUCCESS)
    }

    fn import(
        &self,
        config: &ImportConfig,
        order: &ImportCrawl,
        stop: &Stop,
        lines: &Lines,
    ) -> anyhow::Result<Imported> {
        let tell = |news: jobs::ImportNews<'_>| lines.tell(&news);
        let separate = self.no_database.as_ref().or(config.no_database.as_ref());
        if self.dry_run || separate.is_some() {
            stop_on_signal(stop.clone())?;
            return match separate {
                Some(directory) if !self.dry_run => {
                    jobs::import_separately(directory, order, stop, &tell)
                }
                _ => jobs::try_import(order, stop, &tell),
            };
        }
        let holdings = self.holdings.create()?;
        stop_on_signal(stop.clone())?;
        jobs::import(&holdings, order, stop, &tell)
    }
}

/// What is wrong with the options or the configuration: told like a slip on the command line.
fn usage(error: &anyhow::Error) -> ExitCode {
    let message = jobs::message(error);
    eprintln!("garner: {}", crate::text::plain(&message));
    eprintln!("\nFor more information, try 'garner import --help'.");
    ExitCode::from(USAGE)
}

/// The first signal ends the import in good order, after the group that is being read. A second one ends the program, and
/// so does a disk that keeps it waiting: what is committed is safe, and the next import goes on from there.
fn stop_on_signal(stop: Stop) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            super::stop_signal().await;
            stop.set();
            eprintln!("stopping after what is being read; once more stops at once");
            let _ = tokio::time::timeout(LONGEST_STOP, super::stop_signal()).await;
            std::process::exit(130);
        });
    });
    Ok(())
}

const LONGEST_STOP: Duration = Duration::from_secs(60);
const USAGE: u8 = 2;
/// Who wants it, if it was said here.
const BY: &str = "the command line";
