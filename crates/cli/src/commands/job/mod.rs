//! `garner job`: what waits, runs, or is over.

mod cancel;
mod list;
mod log;
mod retry;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::commands::holdings_options::HoldingsOptions;

pub(crate) use self::show::{log_line, show};

/// List, show, cancel or retry jobs, or print their logs
///
/// A job is one piece of work: a harvest or an import that a schedule made due or somebody wants, a hook after a
/// harvest, or a quiet time.
#[derive(Debug, Args)]
pub(crate) struct Job {
    #[command(subcommand)]
    command: JobCommand,
}

#[derive(Debug, Subcommand)]
enum JobCommand {
    List(list::List),
    Show(show::Show),
    Log(log::Log),
    Cancel(cancel::Cancel),
    Retry(retry::Retry),
}

impl Job {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            JobCommand::List(command) => command.run(),
            JobCommand::Show(command) => command.run(),
            JobCommand::Log(command) => command.run(),
            JobCommand::Cancel(command) => command.run(),
            JobCommand::Retry(command) => command.run(),
        }
    }
}

/// Which job is meant, and where it is.
#[derive(Debug, Args)]
struct Chosen {
    /// Its number in garner job list
    number: i64,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}
