//! Which model judges, and which documents are wanted.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use classifier::{Classifier, Kind, Policy, Vocabulary};

/// The model and the thresholds.
#[derive(Debug, Args)]
pub(crate) struct ModelOptions {
    /// A model made by garner classifier train, or cdi-2012 for the rule of the original importer [default: the model
    /// that garner brings along]
    #[arg(long, value_name = "PATH|cdi-2012")]
    model: Option<String>,
    /// A file of more words by which documents are told, to try them: garner classifier extend makes a model of them
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,
    /// The probability from which on a document is accepted
    #[arg(long, value_name = "PROBABILITY", default_value_t = Policy::default().accept)]
    accept: f64,
    /// The probability below which a document is rejected; what is between is unsure
    #[arg(long, value_name = "PROBABILITY", default_value_t = Policy::default().reject)]
    reject: f64,
    /// The kinds to accept, with commas between: paper (short ones too), thesis, book, report, guideline, proposal, slides,
    /// poster, lecture_notes, homework, manual, datasheet, cv, form, minutes, legal, periodical, syllabus, other
    #[arg(
        long,
        value_name = "KINDS",
        value_delimiter = ',',
        default_value = "paper,thesis",
        hide_possible_values = true
    )]
    kinds: Vec<Kind>,
    /// The share of papers among the documents that are met, such as 0.06: probabilities are those at this rate
    /// [default: as many papers as other documents]
    #[arg(long, value_name = "SHARE")]
    base_rate: Option<f64>,
}

impl ModelOptions {
    pub(crate) fn classifier(&self) -> anyhow::Result<Cow<'static, Classifier>> {
        let classifier = flows::load_model(self.model.as_deref())?;
        let Some(path) = &self.vocabulary else {
            return Ok(classifier);
        };
        let extended = classifier.with_words(&super::words(path)?);
        Ok(Cow::Owned(
            extended.with_context(|| path.display().to_string())?,
        ))
    }

    /// The words by which documents are told when a model is learnt.
    pub(super) fn vocabulary(&self) -> anyhow::Result<Arc<Vocabulary>> {
        vocabulary(self.vocabulary.as_deref())
    }

    /// The model by its name. Documents of a collection are judged by one that can be named in the catalog.
    pub(crate) fn name(&self) -> anyhow::Result<Option<&str>> {
        if self.vocabulary.is_some() {
            bail!(
                "--vocabulary is for files; make a model with garner classifier extend, and name it with --model"
            );
        }
        Ok(self.model.as_deref())
    }

    pub(crate) fn policy(&self) -> anyhow::Result<Policy> {
        let policy = Policy {
            accept: self.accept,
            reject: self.reject,
            kinds: self.kinds.clone(),
            base_rate: self.base_rate,
        };
        policy.check().map_err(anyhow::Error::msg)?;
        Ok(policy)
    }
}

/// The built-in words with those of a file, if there is one.
pub(super) fn vocabulary(path: Option<&Path>) -> anyhow::Result<Arc<Vocabulary>> {
    match path {
        None => Ok(Arc::clone(Vocabulary::built_in())),
        Some(path) => {
            Vocabulary::extended(&super::words(path)?).with_context(|| path.display().to_string())
        }
    }
}
