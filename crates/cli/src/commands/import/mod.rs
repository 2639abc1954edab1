//! `garner import`: turns what crawlers left into a collection of documents.

mod lines;
mod settings;
mod summary;
mod texts;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use catalog::{ImportState, NewJob};
use clap::Args;
use harvester::Stop;
use jobs::{ImportCrawl, Imported};

use self::lines::Lines;
pub(crate) use self::settings::{Facts, Taking, media_types};
pub(crate) use self::summary::counted;
pub(crate) use self::texts::{Texts, UnsureChoice};
use super::LEFT_OUT;
use super::confine::confiner;
use super::holdings_options::HoldingsOptions;
use crate::config::{Config, ImportConfig};

/// Import what crawlers left behind into a collection of documents
///
/// WARC and ARC files, compressed or not, WACZ files, and directories of them are told by their content, not by their
/// names. Mirrors and downloads are imported with the list of what is in them: see --log. PDF and PostScript documents
/// are taken, whatever the server called them; see --types for others. What is at ftp://, ftps:// or sftp:// addresses is
/// fetched to DIR/fetched first, and only what is not there yet. Nothing is fetched from the web. Of a data directory,
/// what harvests unpacked is imported, with the URLs that their records say.
///
/// Documents go to DIR/documents, each with its digests, URL, parent and dates in the catalog DIR/catalog.sqlite. The same
/// bytes are kept once. An import that was interrupted goes on where it was, and one that is done again changes nothing.
///
/// Exits with 0 if all was imported, with 3 if something could not be read, and with 1 if the import failed.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Archives, directories of archives, or the directory of a mirror; here or at an address: sftp://USER@HOST/DIR/
    #[arg(value_name = "PATH|ADDRESS")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// A configuration file with a table "import"; flags win over it
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
    #[command(flatten, next_help_heading = "What documents say")]
    texts: Texts,
    #[command(flatten, next_help_heading = "Where facts come from")]
    facts: Facts,
}

impl Import {
    pub(crate) fn run(mut self) -> anyhow::Result<ExitCode> {
        let config = match &self.config {
            Some(file) => Config::read(file)?,
            None => Config::default(),
        };
        self.holdings = self.holdings.configured(&config);
        let config = config.import;
        let order = match self.order(&config) {
            Ok(order) => order,
            Err(error) => return Ok(super::usage("import", &error)),
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
            ImportState::Failed | ImportState::Cancelled | ImportState::Running => {
                ExitCode::FAILURE
            }
        })
    }

    /// The order that is meant: flags, on top of the configuration file, on top of what is usual.
    fn order(&self, config: &ImportConfig) -> anyhow::Result<ImportCrawl> {
        let mut order = config.order()?;
        self.taking.apply(&mut order)?;
        self.texts.apply(&mut order.texts)?;
        self.facts.apply(&mut order);
        order.confiner = Some(confiner());
        if !self.paths.is_empty() {
            order.paths.clone_from(&self.paths);
        }
        if let Some(jobs) = self.jobs {
            order.threads = usize::from(jobs);
        }
        if self.queue && config.no_database.is_some() {
            bail!(
                "--queue: what is in the queue goes into the catalog, and import.no_database wants it elsewhere; leave one of them out"
            );
        }
        order.check()?;
        Ok(order)
    }

    /// Puts the import into the queue, for whoever looks for work.
    fn enqueue(&self, order: &ImportCrawl) -> anyhow::Result<ExitCode> {
        check_files(order)?;
        let mut order = order.clone();
        order.list_sources()?;
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
            let order = &jobs::fetch_sources(self.holdings.data(), order, stop, &tell)?;
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

/// Finds what is not there, for those who do not wait for the worker who would.
pub(crate) fn check_files(order: &ImportCrawl) -> anyhow::Result<()> {
    for (_, path) in order.files() {
        if jobs::address(path)?.is_some() {
            continue;
        }
        std::fs::metadata(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
    }
    Ok(())
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
/// Who wants it, if it was said here.
const BY: &str = "the command line";
