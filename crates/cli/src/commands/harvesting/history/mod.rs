//! `garner history`: past harvests and imports.

mod compare;
mod entry;
mod import;
mod remove;
mod table;

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use operations::Context;
use operations::harvests::{
    self, CSV_HEAD, Harvest, HarvestFilter, Warning, WarningFilter, csv_line,
};

pub(crate) use crate::commands::history::entry::HarvestReport;
pub(crate) use crate::commands::history::table::{COLUMNS, cells};
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::paging::{each_row, limit};
use crate::output::{Out, to_stdout, write_json};
use crate::table::Table;

/// List harvests, the newest first, or show one
///
/// With NUMBER it shows one harvest: its parameters, all counts, the quirks of the repository, and each record that was
/// skipped or repaired, with the reason.
///
/// With --imports it lists imports, or shows one with NUMBER: the counters by the names of the Crawl Document Importer,
/// the sources, the captures that were skipped or repaired, and where the report is.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct History {
    #[command(subcommand)]
    command: Option<HistoryCommand>,
    /// The number of a harvest, or of an import with --imports
    #[arg(conflicts_with_all = ["repository", "limit", "csv"])]
    number: Option<i64>,
    /// Only harvests of this repository
    #[arg(long, value_name = "URL|NUMBER")]
    repository: Option<String>,
    /// Imports instead of harvests
    #[arg(long, conflicts_with_all = ["repository", "csv"])]
    imports: bool,
    /// How many at most [default: 20 on a terminal; all in a pipe, with --json and with --csv]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print only what was skipped or repaired, one a line
    #[arg(long, requires = "number")]
    warnings: bool,
    /// Print the report of an import, JSON Lines, wherever it is kept
    #[arg(long, requires = "number", requires = "imports", conflicts_with_all = ["warnings", "json"])]
    report: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
    /// Print CSV, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    Compare(compare::Compare),
    Remove(remove::Remove),
}

impl History {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Some(HistoryCommand::Compare(command)) => return command.run(),
            Some(HistoryCommand::Remove(command)) => return command.run(),
            None => {}
        }
        let context = self.holdings.context()?;
        to_stdout(|out| {
            match self.number {
                Some(number) if self.report => import::report(&context, number, out)?,
                Some(number) if self.imports => {
                    import::one(&context, number, self.warnings, self.json, out)?;
                }
                None if self.imports => import::list(&context, self.limit, self.json, out)?,
                Some(number) => self.one(&context, number, out)?,
                None => self.list(&context, out)?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    fn one(&self, context: &Context, number: i64, out: &mut Out) -> anyhow::Result<()> {
        let harvest = context.wait(harvests::show(context, number))?;
        if !self.warnings {
            match self.json {
                true => return Ok(write_json(out, &harvest)?),
                false => entry::describe(out, &harvest)?,
            }
        }
        let mut is_first = !self.warnings;
        each_warning(context, number, |warning| {
            if self.json {
                return Ok(write_json(out, &warning)?);
            }
            if std::mem::take(&mut is_first) {
                writeln!(out, "\nskipped or repaired")?;
            }
            Ok(entry::warning(out, &warning)?)
        })
    }

    fn list(&self, context: &Context, out: &mut Out) -> anyhow::Result<()> {
        let repository = match &self.repository {
            Some(name) => Some(context.holdings().repository(name)?.id),
            None => None,
        };
        let plain_lines = self.json || self.csv;
        let mut table = Table::to_stdout(&COLUMNS);
        if self.csv {
            out.write_all(CSV_HEAD.as_bytes())?;
        }
        let page = |before, limit| {
            let filter = HarvestFilter {
                repository,
                before,
                limit,
                ..HarvestFilter::default()
            };
            context.wait(harvests::list(context, &filter))
        };
        let limit = limit(self.limit, DEFAULT_ROWS, self.json || self.csv);
        let rows = each_row(limit, page, |harvest: Harvest| {
            match (self.json, self.csv) {
                (true, _) => write_json(out, &harvest)?,
                (false, true) => out.write_all(csv_line(&harvest).as_bytes())?,
                (false, false) => table.row(out, cells(&harvest))?,
            }
            Ok(())
        })?;
        table.finish(out)?;
        out.flush()?;
        if rows.shown == 0 && limit > 0 {
            eprintln!("nothing was harvested yet; garner history --imports lists imports");
        }
        if !plain_lines {
            rows.say_rest("--limit N");
        }
        Ok(())
    }
}

fn each_warning(
    context: &Context,
    harvest: i64,
    each: impl FnMut(Warning) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let page = |after, limit| {
        let filter = WarningFilter { after, limit };
        context.wait(harvests::warnings(context, harvest, &filter))
    };
    each_row(u64::MAX, page, each)?;
    Ok(())
}

/// Rows on a terminal without --limit.
const DEFAULT_ROWS: u64 = 20;
