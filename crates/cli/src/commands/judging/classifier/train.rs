//! `garner classifier train`: learns a model from labelled documents.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use classifier::{Classifier, Sample, Training};
use indicatif::ProgressBar;

use super::model::vocabulary;
use crate::output::{to_stdout, write_json};

/// Learn a model from labelled documents
///
/// DATA are lines of JSON, compressed with gzip or not, each with label (academic or nonacademic), subtype or kind, source
/// and text. Documents marked as borderline teach kinds alone. The same data give the same model.
#[derive(Debug, Args)]
pub(super) struct Train {
    /// Files of labelled documents
    #[arg(required_unless_present = "corrections")]
    data: Vec<PathBuf>,
    /// File to write the model to
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Corrections made by librarians, in the same format; may be given again. Each counts as five documents, and takes
    /// the place of a document with the same text
    #[arg(long, value_name = "FILE")]
    corrections: Vec<PathBuf>,
    /// A file of more words by which documents are told, which become part of the model: see garner classifier extend
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Train {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let vocabulary = vocabulary(self.vocabulary.as_deref())?;
        let mut samples = Vec::new();
        for path in &self.data {
            super::read(path, |example| {
                samples.push(Sample::measured(&example, &vocabulary));
            })?;
        }
        for path in &self.corrections {
            super::read(path, |example| {
                samples.push(Sample::of_correction(&example, &vocabulary));
            })?;
        }
        let bar = bar();
        let classifier = Classifier::train(&Training::default(), &samples, &mut |done, of| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        let classifier = classifier?.with_words(vocabulary.added())?;
        let name = self.output.display();
        super::write(&classifier, &self.output)?;
        let trained = classifier.trained().cloned().unwrap_or_default();
        to_stdout(|out| {
            use std::io::Write;
            match self.json {
                true => {
                    let path = self.output.to_string_lossy();
                    let said = serde_json::json!({"path": path, "version": classifier.version(), "trained": trained});
                    write_json(out, &said)?;
                }
                false => writeln!(
                    out,
                    "model {} of {} documents from {} sources is in {name}",
                    classifier.version(),
                    trained.documents,
                    trained.sources
                )?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// How far it is, on a terminal.
pub(super) fn bar() -> ProgressBar {
    match std::io::stderr().is_terminal() {
        true => ProgressBar::new(1),
        false => ProgressBar::hidden(),
    }
}
