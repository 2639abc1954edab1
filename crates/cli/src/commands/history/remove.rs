//! `garner history remove`: forgets harvests and imports; what they brought stays.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use catalog::{HistoryEntry, State};
use clap::Args;
use jobs::Holdings;
use serde::Serialize;

use crate::commands::holdings_options::HoldingsOptions;
use crate::output::{to_stdout, write_json};

/// Remove entries of the history; records and documents stay
///
/// Those that run stay. So do those that the next harvest builds upon or goes on with, unless --force is given: without
/// them everything is harvested again.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The numbers of harvests, or of imports with --imports
    #[arg(required_unless_present = "older_than")]
    numbers: Vec<i64>,
    /// All that ended more than so many days ago, instead of numbers
    #[arg(long, value_name = "DAYS", conflicts_with = "numbers")]
    older_than: Option<u32>,
    /// Imports instead of harvests
    #[arg(long)]
    imports: bool,
    /// Also those that the next harvest builds upon or goes on with
    #[arg(long, conflicts_with_all = ["older_than", "imports"])]
    force: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was removed.
#[derive(Serialize)]
struct Removed {
    removed: u64,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let holdings = self.holdings.open()?;
        let removed = match self.older_than {
            Some(days) => self.old(&holdings, i64::from(days) * 86_400)?,
            None => self.numbered(&holdings)?,
        };
        to_stdout(|out| {
            match (self.json, removed) {
                (true, _) => write_json(out, &Removed { removed })?,
                (false, 1) => writeln!(out, "removed 1 entry")?,
                (false, _) => writeln!(out, "removed {removed} entries")?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    fn old(&self, holdings: &Holdings, seconds: i64) -> anyhow::Result<u64> {
        let catalog = holdings.catalog();
        if !self.imports {
            return Ok(holdings.wait(catalog.remove_history(seconds, false))?);
        }
        let removed = holdings.wait(catalog.remove_imports(seconds))?;
        for id in &removed {
            jobs::forget_report(holdings, *id);
        }
        Ok(removed.len() as u64)
    }

    fn numbered(&self, holdings: &Holdings) -> anyhow::Result<u64> {
        // All are looked at before any is removed.
        for number in &self.numbers {
            match self.imports {
                true => check_import(holdings, *number)?,
                false => self.check(holdings, *number)?,
            }
        }
        let catalog = holdings.catalog();
        let mut removed = 0;
        for number in &self.numbers {
            let is_removed = match self.imports {
                true => holdings.wait(catalog.remove_import(*number))?,
                false => holdings.wait(catalog.remove_history_entry(*number))?,
            };
            if is_removed && self.imports {
                jobs::forget_report(holdings, *number);
            }
            removed += u64::from(is_removed);
        }
        Ok(removed)
    }

    fn check(&self, holdings: &Holdings, number: i64) -> anyhow::Result<()> {
        let entry = holdings.wait(holdings.catalog().history_entry(number))?;
        let entry = entry.with_context(|| {
            format!("there is no harvest {number}; garner history shows those that are there")
        })?;
        if entry.state == State::Running {
            bail!("harvest {number} is running; cancel it first");
        }
        if !self.force && is_needed(holdings, &entry)? {
            bail!(
                "the next harvest of {} goes on from harvest {number}; with --force it is removed, and everything is harvested again",
                entry.base_url
            );
        }
        Ok(())
    }
}

/// Whether the next harvest builds upon this one, or goes on with it.
fn is_needed(holdings: &Holdings, entry: &HistoryEntry) -> anyhow::Result<bool> {
    let (prefix, set) = (&entry.metadata_prefix, entry.set.as_deref());
    let catalog = holdings.catalog();
    let last = holdings.wait(catalog.last_finished(entry.repository, prefix, set))?;
    let unfinished = holdings.wait(catalog.unfinished(entry.repository, prefix, set))?;
    let mut needed = last.iter().chain(&unfinished);
    Ok(needed.any(|needed| needed.id == entry.id))
}

fn check_import(holdings: &Holdings, number: i64) -> anyhow::Result<()> {
    let entry = holdings.wait(holdings.catalog().import(number))?;
    let entry = entry.with_context(|| {
        format!("there is no import {number}; garner history --imports shows those that are there")
    })?;
    if entry.state == catalog::ImportState::Running {
        bail!("import {number} is running; cancel it first");
    }
    Ok(())
}
