//! `garner filter`: filters and mappings of the catalog, and files tried on a record.

mod add;
mod edit;
mod list;
mod remove;
mod show;
mod test;

use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use rules::xml::Limits;

use crate::commands::holdings_options::HoldingsOptions;

/// Keep filters and mappings in the catalog, or try files on a record
#[derive(Debug, Args)]
pub(crate) struct Filter {
    #[command(subcommand)]
    command: FilterCommand,
}

#[derive(Debug, Subcommand)]
enum FilterCommand {
    Add(add::Add),
    List(list::List),
    Show(show::Show),
    Edit(edit::Edit),
    Remove(remove::Remove),
    Test(test::FilterTest),
}

/// A filter or a mapping, and its catalog.
#[derive(Debug, Args)]
struct Chosen {
    /// Its number in garner filter list
    #[arg(value_name = "NUMBER")]
    id: i64,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Filter {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            FilterCommand::Add(command) => command.run(),
            FilterCommand::List(command) => command.run(),
            FilterCommand::Show(command) => command.run(),
            FilterCommand::Edit(command) => command.run(),
            FilterCommand::Remove(command) => command.run(),
            FilterCommand::Test(command) => command.run(),
        }
    }
}

/// Reads a file of rules or of a record; `-` is stdin.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path == Path::new("-") {
        return read_from(io::stdin().lock()).context("cannot read from stdin");
    }
    let file = std::fs::File::open(path).and_then(read_from);
    file.with_context(|| format!("cannot read {}", path.display()))
}

/// The text of a file of rules.
fn read_text(path: &Path) -> anyhow::Result<String> {
    let text = String::from_utf8(read(path)?);
    let text = text.with_context(|| format!("{} is no text in UTF-8", path.display()))?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// Reads at most one byte above the limit, which tells that there is too much.
fn read_from(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = Limits::default().bytes as u64 + 1;
    reader.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
