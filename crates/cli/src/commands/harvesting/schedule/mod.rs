//! `garner schedule`: harvests and imports that run by themselves.

mod add;
mod edit;
mod list;
mod remove;
mod run;
mod settings;
mod show;
mod state;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::commands::holdings_options::HoldingsOptions;

/// Add, list, show, edit, pause, resume, run or remove schedules
///
/// A schedule says what is harvested or imported, and how often. Its jobs run where garner up or garner worker runs on
/// the same data directory and catalog.
#[derive(Debug, Args)]
pub(crate) struct Schedule {
    #[command(subcommand)]
    command: ScheduleCommand,
}

#[derive(Debug, Subcommand)]
enum ScheduleCommand {
    Add(Box<add::Add>),
    List(list::List),
    Show(show::Show),
    Edit(Box<edit::Edit>),
    Pause(state::Pause),
    Resume(state::Resume),
    Run(run::Run),
    Remove(remove::Remove),
}

impl Schedule {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            ScheduleCommand::Add(command) => command.run(),
            ScheduleCommand::List(command) => command.run(),
            ScheduleCommand::Show(command) => command.run(),
            ScheduleCommand::Edit(command) => command.run(),
            ScheduleCommand::Pause(command) => command.run(),
            ScheduleCommand::Resume(command) => command.run(),
            ScheduleCommand::Run(command) => command.run(),
            ScheduleCommand::Remove(command) => command.run(),
        }
    }
}

/// Which schedule is meant, and where it is.
#[derive(Debug, Args)]
struct Chosen {
    /// Its number in garner schedule list
    number: i64,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}
