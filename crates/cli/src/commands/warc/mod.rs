//! `garner warc`: archives by themselves.

mod check;
mod extract;
mod index;
mod output_file;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Index and check WARC, ARC and WACZ files, and extract records
///
/// Files are told by their content: compressed by gzip or zstd, or not. No catalog is needed.
#[derive(Debug, Args)]
pub(crate) struct Warc {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Index(index::Index),
    Check(check::Check),
    Extract(extract::Extract),
}

impl Warc {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Index(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Extract(command) => command.run(),
        }
    }
}
