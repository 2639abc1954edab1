//! Which model judges, and which documents are wanted.

use std::borrow::Cow;

use clap::Args;
use classifier::{Classifier, Kind, Policy};

/// The model and the thresholds.
#[derive(Debug, Args)]
pub(crate) struct ModelOptions {
    /// A model made by garner classifier train, or cdi-2012 for the rule of the original importer [default: the model
    /// that garner brings along]
    #[arg(long, value_name = "PATH|cdi-2012")]
    model: Option<String>,
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
        flows::load_model(self.model.as_deref())
    }

    /// The model by its name.
    pub(crate) fn name(&self) -> Option<&str> {
        self.model.as_deref()
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
