//! `garner documents trash`: removed documents, a line each.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use operations::Actor;
use operations::documents::{self, TrashFilter, TrashedDocument};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::paging::each_row;
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// List removed documents, or empty the trash
///
/// A line is a document: its number, when it was removed, `removed` or `takedown`, whether the trash holds it, its URL and
/// the reason, separated by tabs.
#[derive(Debug, Args)]
pub(super) struct Trash {
    /// Only documents that were taken down
    #[arg(long)]
    takedowns: bool,
    /// Only documents that can be restored
    #[arg(long)]
    restorable: bool,
    /// Only documents with this text in their URL
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// How many at most [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
    /// Remove for good what was removed more than DAYS ago; takedowns stay
    #[arg(long, value_name = "DAYS", conflicts_with_all = ["takedowns", "restorable", "text", "limit", "json"])]
    empty: Option<u32>,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Trash {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        if let Some(days) = self.empty {
            let actor = Actor::command_line();
            let purged = context.wait(documents::purge(&context, &actor, days))?;
            eprintln!("{purged} documents removed for good");
            return Ok(ExitCode::SUCCESS);
        }
        let page = |next: Option<i64>, limit| {
            let filter = TrashFilter {
                takedown: self.takedowns.then_some(true),
                restorable: self.restorable.then_some(true),
                text: self.text.clone(),
                after: next,
                limit,
            };
            context.wait(documents::trash(&context, &filter))
        };
        to_stdout(|out| {
            let limit = self.limit.unwrap_or(u64::MAX);
            each_row(limit, page, |document| self.write(&document, out))?;
            Ok(ExitCode::SUCCESS)
        })
    }

    fn write(&self, document: &TrashedDocument, out: &mut Out) -> anyhow::Result<()> {
        if self.json {
            return Ok(write_json(out, document)?);
        }
        let kind = match document.takedown {
            true => "takedown",
            false => "removed",
        };
        let held = match document.restorable {
            true => "restorable",
            false => "gone",
        };
        let (id, removed) = (document.id, document.removed);
        let (url, reason) = (plain(&document.url), plain(&document.reason));
        Ok(writeln!(
            out,
            "{id}\t{removed}\t{kind}\t{held}\t{url}\t{reason}"
        )?)
    }
}
