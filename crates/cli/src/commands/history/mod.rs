//! `garner history`: what harvests and imports did and what they met.

mod entry;
mod import;
mod remove;
mod table;

use std::process::ExitCode;

use anyhow::Context;
use catalog::HistoryQuery;
use clap::{Args, Subcommand};
use jobs::Holdings;

pub(crate) use self::entry::{EntryJson, describe};
pub(crate) use self::table::Table;
use super::holdings_options::HoldingsOptions;
use crate::output::{Out, to_stdout, write_json};

/// List the harvests, the newest first, or tell all of one
///
/// With NUMBER all of one harvest is told: what it was asked for, all counts, the oddities of the repository, and each
/// record that was left out or mended, with the reason.
///
/// With --imports it is about imports: their state, time and counters, and with NUMBER all counters by the names of the
/// Crawl Document Importer, the sources, what was left out, and where the report is.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct History {
    #[command(subcommand)]
    command: Option<HistoryCommand>,
    /// The number of a harvest, or of an import with --imports
    #[arg(conflicts_with_all = ["repository", "limit"])]
    number: Option<i64>,
    /// Only harvests of this repository
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// Imports instead of harvests
    #[arg(long, conflicts_with = "repository")]
    imports: bool,
    /// How many at most [default: 20]
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        hide_default_value = true
    )]
    limit: u64,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    Remove(remove::Remove),
}

impl History {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(HistoryCommand::Remove(command)) = self.command {
            return command.run();
        }
        let holdings = self.holdings.open()?;
        to_stdout(|out| {
            match self.number {
                Some(number) if self.imports => import::one(&holdings, number, self.json, out)?,
                None if self.imports => import::list(&holdings, self.limit, self.json, out)?,
                Some(number) => self.one(&holdings, number, out)?,
                None => self.list(&holdings, out)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    fn one(&self, holdings: &Holdings, number: i64, out: &mut Out) -> anyhow::Result<()> {
        let catalog = holdings.catalog();
        let entry = holdings.wait(catalog.history_entry(number))?;
        let entry = entry.with_context(|| {
            format!("there is no harvest {number}; garner history shows those that are there")
        })?;
        let warnings = holdings.wait(catalog.warnings(number, u64::MAX))?;
        match self.json {
            true => write_json(out, &EntryJson::new(&entry, Some(&warnings)))?,
            false => describe(out, &entry, &warnings)?,
        }
        Ok(())
    }

    fn list(&self, holdings: &Holdings, out: &mut Out) -> anyhow::Result<()> {
        let repository = match &self.repository {
            Some(name) => Some(holdings.repository(name)?.id),
            None => None,
        };
        let mut table = Table::new();
        let mut left = self.limit;
        let mut before = None;
        while left > 0 {
            let query = HistoryQuery {
                repository,
                before,
                limit: left.min(PAGE),
                ..HistoryQuery::default()
            };
            let entries = holdings.wait(holdings.catalog().history(&query))?;
            for entry in &entries {
                match self.json {
                    true => write_json(out, &EntryJson::new(entry, None))?,
                    false => table.row(out, entry)?,
                }
            }
            let Some(last) = entries.last() else { break };
            before = Some(last.id);
            left = left.saturating_sub(entries.len() as u64);
        }
        if before.is_none() && self.limit > 0 {
            eprintln!("nothing was harvested yet; garner history --imports is about imports");
        }
        Ok(())
    }
}

const PAGE: u64 = 500;
