//! `garner documents`: the documents of the collection, and what became of them.

mod correct;
mod list;
mod show;
mod state;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use oai::{Datestamp, Granularity};
use operations::{Context, documents};

/// List, show or correct imported documents, or mark those that were ingested
#[derive(Debug, Args)]
pub(crate) struct Documents {
    #[command(subcommand)]
    command: DocumentsCommand,
}

#[derive(Debug, Subcommand)]
enum DocumentsCommand {
    List(list::List),
    Show(show::Show),
    State(state::State),
    Correct(correct::Correct),
}

impl Documents {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            DocumentsCommand::List(command) => command.run(),
            DocumentsCommand::Show(command) => command.run(),
            DocumentsCommand::State(command) => command.run(),
            DocumentsCommand::Correct(command) => command.run(),
        }
    }
}

/// The first second that is meant by a date.
fn since(text: &str) -> Result<i64, String> {
    parse(text).map(|(moment, _)| moment.seconds())
}

/// The last second that is meant by a date.
fn until(text: &str) -> Result<i64, String> {
    parse(text).map(|(moment, granularity)| match granularity {
        Granularity::Day => moment.end_of_day().seconds(),
        Granularity::Second => moment.seconds(),
    })
}

fn parse(text: &str) -> Result<(Datestamp, Granularity), String> {
    let date = Datestamp::parse(text);
    date.ok_or_else(|| "write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ".to_owned())
}

/// Writes the .met files of documents that changed. Where the collection is away, the next import or repair does it.
fn update_metadata(context: &Context) {
    if let Err(refusal) = context.wait(documents::update_metadata(context)) {
        eprintln!("the .met files will be written by the next import or repair: {refusal}");
    }
}
