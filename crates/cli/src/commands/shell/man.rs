//! `garner man`: the manual page, from the same definitions as the help.

use std::process::ExitCode;

use clap::{Args, CommandFactory};

use crate::Garner;
use crate::commands::print;

/// Print the manual page of garner or of one of its commands
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// A command, such as serve or repository add
    command: Vec<String>,
}

impl Man {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let mut garner = Garner::command();
        garner.build();
        let mut command = &garner;
        for name in &self.command {
            command = match command.find_subcommand(name) {
                Some(command) => command,
                None => anyhow::bail!("there is no command `{}`", self.command.join(" ")),
            };
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        print(&page)?;
        Ok(ExitCode::SUCCESS)
    }
}
