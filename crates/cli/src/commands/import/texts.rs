//! How documents are read for their text, and which are wanted by it: flags, on top of the configuration file.

use anyhow::bail;
use clap::{Args, ValueEnum};
use document::classify::{Kind, Policy};
use jobs::{TextOrder, Unsure};

use super::Switch;
use crate::config::ImportConfig;

/// The content filter, and the texts of documents.
#[derive(Debug, Args)]
pub(super) struct Texts {
    /// Whether documents are judged by what they say, not only by their type. Those that are not of the kinds to accept are
    /// left out, and so are those without text [default: off]
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    content_filter: Option<Switch>,
    /// The kinds to accept, with commas between: paper, thesis, book, report, slides, lecture_notes, manual, cv, form, other
    /// [default: paper,thesis]
    #[arg(
        long,
        value_name = "KINDS",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    kinds: Vec<Kind>,
    /// The probability from which on a document is accepted [default: 0.6]
    #[arg(long, value_name = "PROBABILITY")]
    accept: Option<f64>,
    /// The probability below which a document is rejected; what is between is unsure [default: 0.4]
    #[arg(long, value_name = "PROBABILITY")]
    reject: Option<f64>,
    /// What becomes of documents between the two: they are imported like others, or set aside, for a librarian to look at
    /// and not for search engines [default: import]
    #[arg(long, value_name = "import|set-aside", hide_possible_values = true)]
    unsure: Option<UnsureChoice>,
    /// A model made by garner classifier train, or cdi-2012 for the rule of the original importer [default: the model that
    /// garner brings along]
    #[arg(long, value_name = "PATH|cdi-2012")]
    model: Option<String>,
    /// Recognise the first pages of documents that consist of images, when all else is done, and judge by these
    #[arg(long)]
    ocr: bool,
    /// A language to recognise, by the names of tesseract; can be given several times [default: eng]
    #[arg(long, value_name = "LANGUAGE")]
    language: Vec<String>,
    /// Store the text of documents beside them, also without the content filter
    #[arg(long)]
    text: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnsureChoice {
    Import,
    SetAside,
}

impl From<UnsureChoice> for Unsure {
    fn from(choice: UnsureChoice) -> Self {
        match choice {
            UnsureChoice::Import => Self::Import,
            UnsureChoice::SetAside => Self::SetAside,
        }
    }
}

impl Texts {
    pub(super) fn order(&self, config: &ImportConfig) -> anyhow::Result<TextOrder> {
        let usual = Policy::default();
        let kinds = match (self.kinds.is_empty(), config.kinds.is_empty()) {
            (false, _) => self.kinds.clone(),
            (true, false) => config.kinds.clone(),
            (true, true) => usual.kinds,
        };
        let order = TextOrder {
            content_filter: match self.content_filter {
                Some(switch) => switch == Switch::On,
                None => config.content_filter,
            },
            store: self.text || config.text,
            model: self.model.clone().or_else(|| config.model.clone()),
            policy: Policy {
                accept: self.accept.or(config.accept).unwrap_or(usual.accept),
                reject: self.reject.or(config.reject).unwrap_or(usual.reject),
                kinds,
            },
            unsure: match self.unsure {
                Some(choice) => choice.into(),
                None => config.unsure.unwrap_or_default(),
            },
            ocr: self.ocr || config.ocr,
            languages: match self.language.is_empty() {
                true => config.languages.clone(),
                false => self.language.clone(),
            },
        };
        if let Err(error) = order.policy.check() {
            bail!("--accept and --reject: {error}");
        }
        if order.content_filter {
            // A model that cannot be used is found before anything is read.
            jobs::load_model(order.model.as_deref())?;
        }
        Ok(order)
    }
}
