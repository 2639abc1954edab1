//! `garner classifier`: models that tell papers from other documents.

mod corrections;
mod evaluate;
pub(crate) mod model;
mod table;
mod train;

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use classifier::{Example, read_examples};

/// Train and evaluate models that tell papers from other documents
#[derive(Debug, Args)]
pub(crate) struct Classifier {
    #[command(subcommand)]
    command: ClassifierCommand,
}

#[derive(Debug, Subcommand)]
enum ClassifierCommand {
    Train(train::Train),
    Evaluate(evaluate::Evaluate),
    Corrections(corrections::Corrections),
}

impl Classifier {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            ClassifierCommand::Train(command) => command.run(),
            ClassifierCommand::Evaluate(command) => command.run(),
            ClassifierCommand::Corrections(command) => command.run(),
        }
    }
}

/// Calls for each labelled document of a file.
fn read(path: &Path, mut call: impl FnMut(Example)) -> anyhow::Result<()> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    let read = read_examples(file, |example| {
        call(example);
        Ok(())
    });
    read.with_context(|| name.to_string())
}
