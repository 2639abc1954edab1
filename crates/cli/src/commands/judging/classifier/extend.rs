//! `garner classifier extend`: gives a model words of another language.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use crate::output::{to_stdout, write_json};

/// Give a model more words by which documents are told, such as those of another language
///
/// The model need not be trained again: it weighs headings and phrases by their meaning, in whatever words. Its version
/// changes. WORDS has lines such as
///
///   heading abstract: ikisiri; muhtasari
///   phrase self_paper: makala hii
///   small sw: na ya wa kwa ni katika za la
///
/// and lines that begin with # are comments. The reference of the classifier explains them and names all headings and
/// phrases.
///
/// Example: garner classifier extend swahili.txt -o ours.model
#[derive(Debug, Args)]
pub(super) struct Extend {
    /// Files of words
    #[arg(required = true)]
    words: Vec<PathBuf>,
    /// The model to extend [default: the model that garner brings along]
    #[arg(long, value_name = "PATH")]
    model: Option<String>,
    /// File to write the model to
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Extend {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut classifier = flows::load_model(self.model.as_deref())?.into_owned();
        if classifier.trained().is_none() {
            anyhow::bail!("the rule of the original importer has no words to extend; name a model");
        }
        for path in &self.words {
            let extended = classifier.with_words(&super::words(path)?);
            classifier = extended.with_context(|| path.display().to_string())?;
        }
        super::write(&classifier, &self.output)?;
        to_stdout(|out| {
            let (path, version) = (self.output.to_string_lossy(), classifier.version());
            match self.json {
                true => write_json(out, &serde_json::json!({"path": path, "version": version}))?,
                false => writeln!(out, "model {version} is in {path}")?,
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
