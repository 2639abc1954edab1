//! `garner import`: turns what crawlers left into a collection of documents.

mod lines;
mod summary;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use catalog::ImportState;
use clap::Args;
use flows::{ImportOrder, Imported};
use harvester::Stop;
use operations::{Actor, Context, ImportPatch, Mistake, Refusal, Setting, imports, jobs};

use self::lines::{Columns, Lines};
pub(crate) use self::summary::counted;
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
    /// Read, filter and count everything, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: read the first N captures only, and print what would become of each
    #[arg(long, value_name = "N", requires = "dry_run", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Start from the settings that are kept under this name by --save-template or the console; flags win over them
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    /// Keep the settings of these flags under this name for --template and the console, and import nothing
    #[arg(long, value_name = "NAME", conflicts_with_all = ["dry_run", "queue", "template", "json"])]
    save_template: Option<String>,
    /// Put the import into the queue of garner up and garner worker, which see PATH under the same name
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    queue: bool,
    /// Print the counters as JSON
    #[arg(long)]
    json: bool,
    /// Print a line for each capture on a terminal as well, and all counters
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
    /// Say nothing while the import goes on
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    patch: ImportPatch,
}

impl Import {
    pub(crate) fn run(mut self) -> anyhow::Result<ExitCode> {
        let config = self.holdings.configuration()?;
        if !self.paths.is_empty() {
            self.patch.paths = Some(self.paths.clone());
        }
        if let Some(name) = &self.save_template {
            return self.save_as(name);
        }
        let order = match self.order(&config.import) {
            Ok(order) => order,
            Err(error) => return Ok(super::usage("import", &error)),
        };
        if self.queue {
            return self.enqueue(&config);
        }
        super::allow_many_files();
        let stop = Stop::default();
        let texts = &order.texts;
        let columns = || Columns::new(texts.is_wanted(), texts.content_filter);
        let columns = self.verbose.then(columns);
        let lines = Lines::new(self.quiet, self.limit.is_some(), columns);
        let imported = self.import(&order, &stop, &lines);
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

    /// The order: flags, on top of the configuration file, on top of the defaults.
    fn order(&self, config: &ImportConfig) -> anyhow::Result<ImportOrder> {
        let mut order = config.order()?;
        if self.queue {
            config.rules()?.require(&Actor::command_line())?;
        }
        let mut mistakes = Vec::new();
        if let Some(template) = self.template()? {
            mistakes.extend(template.apply(&mut order));
        }
        mistakes.extend(self.patch.apply(&mut order));
        mistakes.extend(order.check());
        if order.log.is_none() {
            let about_logs = [
                ("log_format", self.patch.log_format.is_some()),
                ("root", self.patch.root.is_some()),
            ];
            for (field, _) in about_logs.into_iter().filter(|(_, is_given)| *is_given) {
                mistakes.push(Mistake::new(field, "this is about a log; give --log FILE"));
            }
        }
        for mistake in &mut mistakes {
            // The flag has the name that users of make know.
            if mistake.field == Some("threads") {
                mistake.field = Some("--jobs");
            }
        }
        Refusal::unless_empty(mistakes)?;
        if order.texts.content_filter {
            // A model that cannot be used is found before anything is read.
            flows::load_model(order.texts.model.as_deref())?;
        }
        order.confiner = Some(confiner());
        Ok(order)
    }

    /// The settings of the template that is named.
    fn template(&self) -> anyhow::Result<Option<ImportPatch>> {
        let Some(name) = &self.template else {
            return Ok(None);
        };
        let context = self.holdings.context()?;
        let template = context.wait(imports::template(&context, name))?;
        Ok(Some(template.patch()?))
    }

    /// Keeps the settings as a template, with paths that mean the same everywhere.
    fn save_as(&self, name: &str) -> anyhow::Result<ExitCode> {
        let mut patch = self.patch.clone();
        for path in patch.paths.iter_mut().flatten() {
            if !path.to_string_lossy().contains("://") {
                *path = std::path::absolute(&*path)?;
            }
        }
        let settings = [
            &mut patch.blacklist,
            &mut patch.log,
            &mut patch.root,
            &mut patch.no_database,
        ];
        for setting in settings {
            if let Some(Setting::To(path)) = setting {
                *path = std::path::absolute(&*path)?;
            }
        }
        let holdings = Arc::new(self.holdings.create()?);
        let context = Context::new(Arc::clone(&holdings));
        let actor = Actor::command_line();
        let given = patch.given()?;
        let saving = imports::save_template(&context, &actor, name, &given);
        let saved = holdings.wait(saving)?;
        eprintln!("kept as {}: garner import --template", saved.name);
        Ok(ExitCode::SUCCESS)
    }

    /// Puts the import into the queue.
    fn enqueue(&self, config: &Config) -> anyhow::Result<ExitCode> {
        let holdings = Arc::new(self.holdings.create()?);
        let mut settings = config.settings()?;
        if let Some(template) = self.template()? {
            let mistakes = template.apply(&mut settings.imports.default);
            Refusal::unless_empty(mistakes)?;
        }
        let context = Context::new(Arc::clone(&holdings)).configured(settings);
        let actor = Actor::command_line();
        let job = holdings.wait(jobs::import(&context, &actor, &self.patch, None))?;
        let options = self.holdings.said();
        eprintln!(
            "job {} waits for a worker; garner job show {}{options} --follow",
            job.id, job.id
        );
        Ok(ExitCode::SUCCESS)
    }

    fn import(&self, order: &ImportOrder, stop: &Stop, lines: &Lines) -> anyhow::Result<Imported> {
        let tell = |event: flows::ImportEvent<'_>| lines.tell(&event);
        let separate = order.no_database.as_deref();
        if self.dry_run || separate.is_some() {
            stop_on_signal(stop.clone())?;
            let mut order = flows::fetch_sources(self.holdings.data()?, order, stop, &tell)?;
            if !order.lists.is_empty() {
                order.read_lists(&self.holdings.open()?)?;
            }
            let order = &order;
            return match separate {
                Some(directory) if !self.dry_run => {
                    flows::import_separately(directory, order, stop, &tell)
                }
                _ => flows::try_import(order, self.limit, stop, &tell),
            };
        }
        let holdings = self.holdings.create()?;
        stop_on_signal(stop.clone())?;
        flows::import(&holdings, order, stop, &tell)
    }
}

/// The first signal ends the import in good order, after the group that is being read. A second one ends the program, and
/// so does a disk that keeps it waiting: what is committed is safe, and the next import goes on from there.
pub(crate) fn stop_on_signal(stop: Stop) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            super::stop_signal().await;
            stop.set();
            eprintln!("stopping after what is being read; again to stop at once");
            let _ = tokio::time::timeout(LONGEST_STOP, super::stop_signal()).await;
            std::process::exit(130);
        });
    });
    Ok(())
}

const LONGEST_STOP: Duration = Duration::from_secs(60);
