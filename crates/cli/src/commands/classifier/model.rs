//! Which model judges, and which documents are wanted.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use clap::Args;
use document::classify::{CDI_2012, Classifier, Kind, Policy};

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
    /// The kinds to accept, with commas between: paper, thesis, book, report, slides, lecture_notes, manual, cv, form, other
    #[arg(
        long,
        value_name = "KINDS",
        value_delimiter = ',',
        default_value = "paper,thesis",
        hide_possible_values = true
    )]
    kinds: Vec<Kind>,
}

impl ModelOptions {
    pub(crate) fn classifier(&self) -> anyhow::Result<Cow<'static, Classifier>> {
        match self.model.as_deref() {
            None => Ok(Cow::Borrowed(Classifier::built_in())),
            Some(CDI_2012) => Ok(Cow::Owned(Classifier::cdi_2012())),
            Some(path) => Ok(Cow::Owned(read(Path::new(path))?)),
        }
    }

    pub(crate) fn policy(&self) -> anyhow::Result<Policy> {
        let policy = Policy {
            accept: self.accept,
            reject: self.reject,
            kinds: self.kinds.clone(),
        };
        policy.check().map_err(anyhow::Error::msg)?;
        Ok(policy)
    }
}

fn read(path: &Path) -> anyhow::Result<Classifier> {
    let name = path.display();
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(|| format!("cannot read the model {name}"))?;
    let read = file.take(LARGEST).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read the model {name}"))?;
    Classifier::read(&bytes).with_context(|| name.to_string())
}

/// Models have a few megabytes; nothing larger is one.
const LARGEST: u64 = 64 * 1024 * 1024;
