//! `garner parents`: the pages that link to documents.

mod clean;
mod list;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// List the pages that link to documents, or write those worth another crawl
#[derive(Debug, Args)]
pub(crate) struct Parents {
    #[command(subcommand)]
    command: ParentsCommand,
}

#[derive(Debug, Subcommand)]
enum ParentsCommand {
    List(Box<list::List>),
    Clean(Box<clean::Clean>),
}

impl Parents {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            ParentsCommand::List(command) => command.run(),
            ParentsCommand::Clean(command) => command.run(),
        }
    }
}
