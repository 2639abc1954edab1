//! `garner repository`: the repositories that are known.

mod add;
mod list;
mod remove;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Add, list, show or remove repositories
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
    Remove(remove::Remove),
}

impl Repository {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            RepositoryCommand::Add(command) => command.run(),
            RepositoryCommand::List(command) => command.run(),
            RepositoryCommand::Show(command) => command.run(),
            RepositoryCommand::Remove(command) => command.run(),
        }
    }
}
