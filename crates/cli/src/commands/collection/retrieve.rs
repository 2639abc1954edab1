//! `garner retrieve`: documents of the collection, as a directory, an archive or lines.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use flows::{Format, RetrievalEvent};
use harvester::Stop;
use indicatif::ProgressBar;
use operations::Actor;
use operations::retrieve::{self, RetrievalOrder, SavedRetrieval, Selection};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::{LEFT_OUT, stop_signal};
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Retrieve documents of the collection: all that meet conditions, or a random sample
///
/// Copies documents into a directory, a tar or ZIP archive or a WARC file, or writes their metadata alone as CSV or JSON
/// Lines. Archives have a file for each document, named by its number, and documents.jsonl, which tells the URL and all
/// else of each. The same selection and seed give the same bytes. Nothing is left under the name of the output before it is
/// whole.
///
/// Example: garner retrieve --output sample.zip --format zip --type application/pdf --since 2011-01-01
/// --until 2011-06-30 --sample 1000 --seed 7
///
/// Exits with 3 if files or texts of selected documents are missing or damaged; they are named.
#[derive(Debug, Args)]
pub(crate) struct Retrieve {
    /// The file or directory to write, which must not exist yet; a directory may be empty
    #[arg(long, value_name = "PATH", required_unless_present_any = ["queue", "list", "remove", "save"])]
    output: Option<PathBuf>,
    /// directory, tar, zip, warc, csv or jsonl [default: as the output is named]
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    format: Option<Format>,
    /// Retrieve the stored texts of documents, too
    #[arg(long)]
    text: bool,
    /// Replace a file that exists
    #[arg(long, requires = "output")]
    replace: bool,
    /// Write a CDXJ index beside a WARC file, as PATH.cdxj
    #[arg(long, requires = "output")]
    cdxj: bool,
    #[command(flatten, next_help_heading = "Which documents")]
    selection: Selection,
    /// Keep the selection, the format and --text under this name
    #[arg(long, value_name = "NAME", help_heading = "Saved retrievals")]
    save: Option<String>,
    /// Retrieve what was saved under this name
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Saved retrievals",
        conflicts_with = "save"
    )]
    saved: Option<String>,
    /// List what is saved
    #[arg(long, help_heading = "Saved retrievals", exclusive = false)]
    list: bool,
    /// Forget what was saved under this name
    #[arg(long, value_name = "NAME", help_heading = "Saved retrievals")]
    remove: Option<String>,
    /// Leave it to garner up or garner worker; its file can be downloaded from the console
    #[arg(long, conflicts_with_all = ["output", "replace"])]
    queue: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Retrieve {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.holdings.context()?, Actor::command_line());
        if self.list {
            let saved = context.wait(retrieve::saved_all(&context))?;
            return list(&saved.items, self.json);
        }
        if let Some(name) = &self.remove {
            context.wait(retrieve::remove_saved(&context, &actor, name))?;
            eprintln!("`{}` is forgotten", plain(name));
            return Ok(ExitCode::SUCCESS);
        }
        let order = match &self.saved {
            Some(name) => {
                let saved = context.wait(retrieve::saved(&context, name))?.order;
                self.changed(saved)?
            }
            None => RetrievalOrder {
                selection: self.selection.clone(),
                format: self.format(self.output.as_deref()),
                text: self.text,
            },
        };
        if let Some(name) = &self.save {
            let saved = context.wait(retrieve::save(&context, &actor, name, &order))?;
            eprintln!("saved as `{}`", plain(&saved.name));
        }
        if self.queue {
            let job = context.wait(retrieve::queue(&context, &actor, order))?;
            let said = self.holdings.said();
            eprintln!(
                "job {0} waits for a worker; garner job show {0}{said} --follow",
                job.id
            );
            return to_stdout(|out| {
                if self.json {
                    write_json(out, &job)?;
                }
                Ok(ExitCode::SUCCESS)
            });
        }
        let Some(output) = &self.output else {
            return Ok(ExitCode::SUCCESS);
        };
        self.check_name(output)?;
        let stop = Stop::default();
        let stopped = stop.clone();
        context.holdings().spawn(async move {
            stop_signal().await;
            stopped.set();
        });
        let bar = match std::io::stderr().is_terminal() {
            true => ProgressBar::new_spinner(),
            false => ProgressBar::hidden(),
        };
        let mut tell = |event: RetrievalEvent<'_>| match event {
            RetrievalEvent::Progress(retrieved, total) => {
                if let Some(total) = total {
                    bar.set_length(total);
                }
                bar.set_position(retrieved.documents);
                bar.set_message(retrieved.said());
            }
            RetrievalEvent::Lost { id, url, problem } => bar.suspend(|| {
                eprintln!("document {id} ({}): {}", plain(url), plain(problem));
            }),
        };
        let is_indexed = self.cdxj;
        if is_indexed && order.format != Format::Warc {
            bail!("only a WARC file has a CDXJ index; add --format warc, or leave --cdxj out");
        }
        let replaces = self.replace;
        let outcome =
            retrieve::retrieve(&context, &actor, order, output, replaces, &stop, &mut tell);
        bar.finish_and_clear();
        let outcome = outcome?;
        let retrieved = &outcome.retrieved;
        if is_indexed && !retrieved.stopped {
            flows::index_beside(output)?;
        }
        if retrieved.stopped {
            eprintln!("stopped; nothing is left of it");
        } else {
            eprintln!("{}", retrieved.said());
            if outcome.unindexed > 0 {
                eprintln!(
                    "{} texts could not be found yet: they wait to be indexed, by garner up or the next import",
                    outcome.unindexed
                );
            }
            if let (Some(seed), None) = (&outcome.seed, &self.selection.seed) {
                eprintln!("--seed {} repeats this sample", plain(seed));
            }
        }
        to_stdout(|out| {
            if self.json {
                write_json(out, &outcome)?;
            }
            Ok(match (retrieved.stopped, retrieved.problems()) {
                (true, _) => ExitCode::FAILURE,
                (false, 0) => ExitCode::SUCCESS,
                (false, _) => ExitCode::from(LEFT_OUT),
            })
        })
    }

    /// The saved order, with another sample, format or text if given.
    fn changed(&self, mut order: RetrievalOrder) -> anyhow::Result<RetrievalOrder> {
        let Selection {
            sample,
            seed,
            limit,
            ..
        } = self.selection.clone();
        let changes = Selection {
            sample,
            seed: seed.clone(),
            limit,
            ..Selection::default()
        };
        if self.selection != changes {
            bail!(
                "a saved retrieval has its conditions; only --sample, --seed, --limit, --format and --text change it"
            );
        }
        if sample.is_some() || limit.is_some() {
            (order.selection.sample, order.selection.limit) = (sample, limit);
            order.selection.seed = None;
        }
        if seed.is_some() {
            order.selection.seed = seed;
        }
        if let Some(format) = self.format {
            order.format = format;
        }
        order.text |= self.text;
        Ok(order)
    }

    fn format(&self, output: Option<&Path>) -> Format {
        let named = || {
            let name = ending(output?)?;
            Format::parse(&name)
        };
        let otherwise = match output {
            Some(_) => Format::Directory,
            None => Format::Zip,
        };
        self.format.or_else(named).unwrap_or(otherwise)
    }
}

impl Retrieve {
    /// Refuses names that hardly mean a directory.
    fn check_name(&self, output: &Path) -> anyhow::Result<()> {
        if output == Path::new("-") {
            bail!(
                "what is retrieved goes to a file or a directory, not to standard output; a file of this name is ./-"
            );
        }
        let is_named = self.format.is_some() || self.saved.is_some();
        match ending(output).filter(|_| !is_named && !output.is_dir()) {
            Some(ending) if Format::parse(&ending).is_none() => bail!(
                "`{ending}` is no format; name the output .tar, .zip, .warc, .warc.gz, .csv or .jsonl, or add --format directory"
            ),
            _ => Ok(()),
        }
    }
}

/// How the name of a file ends, without `.gz`.
fn ending(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.is_empty()).then(|| ending.to_owned())
}

fn list(saved: &[SavedRetrieval], json: bool) -> anyhow::Result<ExitCode> {
    to_stdout(|out| {
        for saved in saved {
            if json {
                write_json(out, saved)?;
                continue;
            }
            let (name, format) = (plain(&saved.name), saved.order.format.name());
            let selection = serde_json::to_string(&saved.order.selection)?;
            writeln!(out, "{name}\t{format}\t{}", plain(&selection))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn format(name: &str) -> Result<Format, String> {
    Format::parse(name).ok_or_else(|| "write directory, tar, zip, warc, csv or jsonl".to_owned())
}
