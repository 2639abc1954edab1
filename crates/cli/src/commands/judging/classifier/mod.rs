//! `garner classifier`: models that tell papers from other documents.

mod corrections;
mod evaluate;
mod extend;
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
    Extend(extend::Extend),
    Evaluate(evaluate::Evaluate),
    Corrections(corrections::Corrections),
}

impl Classifier {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            ClassifierCommand::Train(command) => command.run(),
            ClassifierCommand::Extend(command) => command.run(),
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

/// The lines of a file of words.
fn words(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {name}"))?;
    let lines = String::from_utf8(bytes);
    lines.map_err(|_| anyhow::anyhow!("{name} is not text in UTF-8"))
}

/// Writes a model to a file.
fn write(classifier: &classifier::Classifier, path: &Path) -> anyhow::Result<()> {
    let written = std::fs::write(path, classifier.to_bytes()?);
    written.with_context(|| format!("cannot write {}", path.display()))
}
