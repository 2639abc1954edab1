//! `garner completions`: completions for a shell, from the same definitions as the help.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Garner;
use crate::commands::print;

/// Print completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Garner::command(), "garner", &mut script);
        print(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
