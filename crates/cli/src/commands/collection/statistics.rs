//! `garner statistics`: figures on everything that is held.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Args;
use operations::Context;
use operations::statistics::{self, CollectionFilter};

use crate::commands::holdings_options::HoldingsOptions;
use crate::human;
use crate::output::{to_stdout, write_json};
use crate::text::{bytes, plain};

/// Show figures on repositories, records, harvests and jobs
///
/// `unread` counts the records that cannot be found by their words, because their files could not be read.
///
/// With --collection, figures on documents: by media type, host, month, kind, decision, language and state, declared against
/// real types, and what shared bytes save. With --import, those on the documents that one import brought.
#[derive(Debug, Args)]
pub(crate) struct Statistics {
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Show figures on the documents of the collection
    #[arg(long)]
    collection: bool,
    /// Show figures on the documents that this import brought
    #[arg(long, value_name = "NUMBER")]
    import: Option<i64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Statistics {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let context = self.holdings.context()?;
        if self.collection || self.import.is_some() {
            return self.of_documents(&context);
        }
        let totals = context.wait(statistics::totals(&context))?;
        to_stdout(|out| {
            if self.json {
                write_json(out, &totals)?;
                return Ok(ExitCode::SUCCESS);
            }
            let (jobs, health) = (&totals.jobs, &totals.health);
            for (name, number) in [
                ("repositories", totals.repositories),
                ("  ok", health.ok),
                ("  running", health.running),
                ("  incomplete", health.incomplete),
                ("  failing", health.failing),
                ("  never harvested", health.never),
                ("records", totals.records),
                ("  deleted", totals.deleted),
                ("  unread", totals.unread),
                ("harvests", totals.harvests),
                ("  bytes", totals.bytes),
                ("jobs scheduled", jobs.scheduled),
                ("jobs running", jobs.running),
                ("jobs finished", jobs.finished),
                ("jobs failed", jobs.failed),
                ("jobs cancelled", jobs.cancelled),
            ] {
                writeln!(out, "{name:<18} {:>16}", figure(name, number))?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    fn of_documents(&self, context: &Context) -> anyhow::Result<ExitCode> {
        let filter = CollectionFilter {
            import: self.import,
        };
        let figures = match self.import {
            Some(_) => context.wait(statistics::collection(context, &filter))?,
            None => context.wait(statistics::refresh(context))?,
        };
        to_stdout(|out| {
            if self.json {
                write_json(out, &figures)?;
                return Ok(ExitCode::SUCCESS);
            }
            for (name, number) in [
                ("documents", figures.documents),
                ("contents", figures.contents),
                ("  bytes", figures.bytes),
                ("duplicates", figures.duplicates),
                ("  bytes saved", figures.bytes_saved),
                ("searchable texts", figures.searchable),
                ("near-duplicates", figures.near_duplicates),
                ("  groups", figures.near_duplicate_groups),
            ] {
                writeln!(out, "{name:<18} {:>16}", figure(name, number))?;
            }
            for (name, counts) in [
                ("media type", &figures.types),
                ("host", &figures.hosts),
                ("year", &figures.years),
                ("kind", &figures.kinds),
                ("decision", &figures.decisions),
                ("language", &figures.languages),
                ("state", &figures.states),
                ("declared → real type", &figures.declared),
            ] {
                if counts.is_empty() {
                    continue;
                }
                writeln!(out, "\n{name}")?;
                for count in counts.iter().take(MOST_VALUES) {
                    let value = if count.value.is_empty() {
                        "none"
                    } else {
                        &count.value
                    };
                    writeln!(
                        out,
                        "{:>16}  {}",
                        human::number(count.documents),
                        plain(value)
                    )?;
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// A figure for people on a terminal, and the exact number in a pipe.
fn figure(name: &str, number: u64) -> String {
    match name.contains("bytes") && std::io::stdout().is_terminal() {
        true => bytes(number),
        false => human::number(number),
    }
}

/// Values of each kind that are printed; JSON has all.
const MOST_VALUES: usize = 20;
