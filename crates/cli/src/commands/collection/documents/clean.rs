//! `garner documents clean`: documents that failed and are blacklisted go to the trash.

use std::io::{IsTerminal, Write, stdin};
use std::process::ExitCode;

use clap::Args;
use harvester::Stop;
use operations::documents::{self, Candidate, CleanDocuments, Cleaned};
use operations::{Actor, Context};

use crate::commands::blacklist_options::BlacklistOptions;
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::{LEFT_OUT, stop_signal, usage};
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// Move documents to the trash that failed to be ingested and whose host is blacklisted
///
/// A document is removed if both hold: a search engine reported it as failed (garner documents state failed), and a
/// blacklist names its host or the beginning of its URL. Its row, its file, its .met file, its text and its words in the
/// search go; bytes that other documents have stay. garner documents restore brings it back for 7 days
/// (history.trash_days). A cleaning that was interrupted is continued by the next.
///
/// With --dry-run nothing is removed, and a line for each document is printed: its number, size, host, the entry of the
/// blacklist and its URL, separated by tabs.
///
/// Exits with 3 if files could not be moved.
#[derive(Debug, Args)]
pub(super) struct Clean {
    #[command(flatten)]
    blacklist: BlacklistOptions,
    /// Print what would be removed
    #[arg(long, conflicts_with_all = ["yes", "queue"])]
    dry_run: bool,
    /// Remove without asking
    #[arg(long)]
    yes: bool,
    /// Leave it to garner up or garner worker
    #[arg(long)]
    queue: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON: the result, or with --dry-run the documents, one object a line
    #[arg(long)]
    json: bool,
}

impl Clean {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if self.blacklist.is_empty() {
            let error = anyhow::anyhow!("name a blacklist with --blacklist or --list");
            return Ok(usage("documents clean", &error));
        }
        let order = CleanDocuments {
            lists: self.blacklist.lists.clone(),
            blacklist: self.blacklist.text()?,
        };
        let context = self.holdings.context()?;
        if self.dry_run {
            return self.print(&context, &order);
        }
        if !self.yes && !confirmed(&context, &order)? {
            return Ok(ExitCode::FAILURE);
        }
        let actor = Actor::command_line();
        if self.queue {
            let job = context.wait(documents::queue_clean(&context, &actor, &order))?;
            let said = self.holdings.said();
            eprintln!(
                "job {} waits for a worker; garner job show {}{said} --follow",
                job.id, job.id
            );
            return Ok(ExitCode::SUCCESS);
        }
        let stop = Stop::default();
        let stopped = stop.clone();
        context.holdings().spawn(async move {
            stop_signal().await;
            stopped.set();
            eprintln!("stopping after the documents that are being removed");
        });
        let mut tell = |_: &Cleaned| {};
        let cleaned = documents::clean(&context, &actor, &order, &stop, &mut tell)?;
        eprintln!("{}", cleaned.said());
        if cleaned.stopped {
            eprintln!("stopped; the same command continues");
        }
        if self.json {
            to_stdout(|out| {
                write_json(out, &cleaned)?;
                Ok(ExitCode::SUCCESS)
            })?;
        }
        Ok(match (cleaned.stopped, cleaned.unmoved) {
            (true, _) => ExitCode::FAILURE,
            (false, 0) => ExitCode::SUCCESS,
            (false, _) => ExitCode::from(LEFT_OUT),
        })
    }

    fn print(&self, context: &Context, order: &CleanDocuments) -> anyhow::Result<ExitCode> {
        let (mut documents, mut bytes) = (0_u64, 0);
        let code = to_stdout(|out| {
            let mut each = |candidate: Candidate| {
                documents += 1;
                bytes += candidate.size;
                self.write(&candidate, out)
            };
            let failed = documents::candidates(context, order, &mut each)?;
            eprintln!(
                "{documents} of {failed} documents that failed would be removed, {bytes} bytes"
            );
            Ok(ExitCode::SUCCESS)
        })?;
        Ok(code)
    }

    fn write(&self, candidate: &Candidate, out: &mut Out) -> anyhow::Result<()> {
        if self.json {
            return Ok(write_json(out, candidate)?);
        }
        let Candidate { id, size, .. } = candidate;
        let (host, entry) = (plain(&candidate.host), plain(&candidate.entry));
        let url = plain(&candidate.url);
        Ok(writeln!(out, "{id}\t{size}\t{host}\t{entry}\t{url}")?)
    }
}

/// Asks on a terminal; elsewhere --yes is needed.
fn confirmed(context: &Context, order: &CleanDocuments) -> anyhow::Result<bool> {
    let preview = context.wait(documents::preview(context, order))?;
    let more = match preview.complete {
        true => "",
        false => "at least ",
    };
    let number = preview.documents;
    if !stdin().is_terminal() {
        eprintln!("{more}{number} documents would be removed; add --yes to remove them");
        return Ok(false);
    }
    eprint!("Move {more}{number} documents to the trash? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
