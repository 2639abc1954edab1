//! `garner run`: harvests, imports and other work, queued, running or over.

mod act;
mod failures;
mod list;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::commands::holdings_options::HoldingsOptions;

/// List, show, stop or repeat runs, or group those that failed
///
/// A run is one harvest, one import or one other piece of work: queued, running or over. It has the number of its job;
/// harvests and imports that a command does have one too.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(Debug, Subcommand)]
enum RunCommand {
    List(list::List),
    Show(show::Show),
    Problems(show::Problems),
    Stop(act::Stop),
    Retry(act::Retry),
    Again(act::Again),
    Failures(failures::Failures),
}

impl Run {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            RunCommand::List(command) => command.run(),
            RunCommand::Show(command) => command.run(),
            RunCommand::Problems(command) => command.run(),
            RunCommand::Stop(command) => command.run(),
            RunCommand::Retry(command) => command.run(),
            RunCommand::Again(command) => command.run(),
            RunCommand::Failures(command) => command.run(),
        }
    }
}

/// Which run is meant, and where it is.
#[derive(Debug, Args)]
struct Chosen {
    /// Its number in garner run list
    number: i64,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}
