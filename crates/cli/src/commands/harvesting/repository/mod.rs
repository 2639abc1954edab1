//! `garner repository`: the repositories that are harvested.

mod add;
mod edit;
mod formats;
mod inspect;
mod list;
mod move_records;
mod refresh;
mod remove;
mod sets;
mod show;
mod tag;
mod well_known;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::commands::holdings_options::HoldingsOptions;

/// Add, find, list, show, refresh, edit, tag or remove repositories; move records
#[derive(Debug, Args)]
pub(crate) struct Repository {
    #[command(subcommand)]
    command: RepositoryCommand,
}

#[derive(Debug, Subcommand)]
enum RepositoryCommand {
    Add(add::Add),
    List(list::List),
    Show(show::Show),
    Formats(formats::Formats),
    Sets(sets::Sets),
    Refresh(refresh::Refresh),
    Edit(edit::Edit),
    Tag(tag::Tag),
    Inspect(inspect::Inspect),
    WellKnown(well_known::WellKnown),
    MoveRecords(move_records::MoveRecords),
    Remove(remove::Remove),
}

/// A repository, and its catalog.
#[derive(Debug, Args)]
struct Chosen {
    /// Its base URL, or its number in garner repository list
    #[arg(value_name = "URL|NUMBER")]
    repository: String,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Repository {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            RepositoryCommand::Add(command) => command.run(),
            RepositoryCommand::List(command) => command.run(),
            RepositoryCommand::Show(command) => command.run(),
            RepositoryCommand::Formats(command) => command.run(),
            RepositoryCommand::Sets(command) => command.run(),
            RepositoryCommand::Refresh(command) => command.run(),
            RepositoryCommand::Edit(command) => command.run(),
            RepositoryCommand::Tag(command) => command.run(),
            RepositoryCommand::Inspect(command) => command.run(),
            RepositoryCommand::WellKnown(command) => command.run(),
            RepositoryCommand::MoveRecords(command) => command.run(),
            RepositoryCommand::Remove(command) => command.run(),
        }
    }
}
