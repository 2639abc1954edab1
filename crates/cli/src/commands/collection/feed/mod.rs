//! `garner feed`: changes of documents, for search engines.

mod changes;
mod solr;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Tell search engines which documents are new, changed or gone
#[derive(Debug, Args)]
pub(crate) struct Feed {
    #[command(subcommand)]
    command: FeedCommand,
}

#[derive(Debug, Subcommand)]
enum FeedCommand {
    Changes(changes::Changes),
    Solr(Box<solr::Solr>),
}

impl Feed {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            FeedCommand::Changes(command) => command.run(),
            FeedCommand::Solr(command) => command.run(),
        }
    }
}
