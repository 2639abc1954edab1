//! `garner documents`: the documents of the collection, and what became of them.

mod citations;
mod clean;
mod correct;
mod list;
mod remove;
mod restore;
mod review;
mod search;
mod show;
mod state;
mod trash;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use operations::{Context, documents, first_second, last_second};

/// List, search, show, review, correct or remove imported documents
#[derive(Debug, Args)]
pub(crate) struct Documents {
    #[command(subcommand)]
    command: DocumentsCommand,
}

#[derive(Debug, Subcommand)]
enum DocumentsCommand {
    List(list::List),
    Search(search::Search),
    Review(review::Review),
    Show(show::Show),
    State(state::State),
    Correct(correct::Correct),
    Clean(clean::Clean),
    Remove(remove::Remove),
    Restore(restore::Restore),
    Trash(trash::Trash),
    Citations(citations::Citations),
}

impl Documents {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            DocumentsCommand::List(command) => command.run(),
            DocumentsCommand::Search(command) => command.run(),
            DocumentsCommand::Review(command) => command.run(),
            DocumentsCommand::Show(command) => command.run(),
            DocumentsCommand::State(command) => command.run(),
            DocumentsCommand::Correct(command) => command.run(),
            DocumentsCommand::Clean(command) => command.run(),
            DocumentsCommand::Remove(command) => command.run(),
            DocumentsCommand::Restore(command) => command.run(),
            DocumentsCommand::Trash(command) => command.run(),
            DocumentsCommand::Citations(command) => command.run(),
        }
    }
}

/// A kind as people write it.
fn kind(name: &str) -> Result<&'static str, String> {
    documents::kind(name).map_err(|refusal| refusal.to_string())
}

/// The first second that is meant by a date.
fn since(text: &str) -> Result<i64, String> {
    first_second(text).map(|time| time.0)
}

/// The last second that is meant by a date.
fn until(text: &str) -> Result<i64, String> {
    last_second(text).map(|time| time.0)
}

/// Writes the .met files of documents that changed. Where the collection is away, the next import or repair does it.
fn update_metadata(context: &Context) {
    if let Err(refusal) = context.wait(documents::update_metadata(context)) {
        eprintln!("the .met files will be written by the next import or repair: {refusal}");
    }
}
