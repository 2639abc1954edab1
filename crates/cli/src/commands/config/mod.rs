//! `garner config`: checks, shows and begins configuration files.

mod check;
mod init;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Check or show the configuration, or begin a configuration file
///
/// Settings come from /etc/garner/garner.toml, then ~/.config/garner/garner.toml, then the file of --config (or
/// $GARNER_CONFIG), then systemd credentials, then the environment; later ones win, key by key. Options of a command
/// win over all of them. GARNER_JOBS_WORKERS=8 sets the key "workers" of the table [jobs].
#[derive(Debug, Args)]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Check),
    Show(show::Show),
    Init(init::Init),
}

impl ConfigCommand {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Check(command) => command.run(),
            Command::Show(command) => command.run(),
            Command::Init(command) => command.run(),
        }
    }
}
