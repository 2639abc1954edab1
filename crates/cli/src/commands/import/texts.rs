//! How documents are read for their text, and which are wanted by it: flags, on top of the configuration file.

use anyhow::bail;
use clap::{Args, ValueEnum};
use document::classify::Kind;
use jobs::{TextOrder, Unsure};

/// The content filter, and the texts of documents.
#[derive(Debug, Default, PartialEq, Args)]
pub(crate) struct Texts {
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
enum Switch {
    On,
    Off,
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
    /// Puts what is given on top of an order.
    pub(crate) fn apply(&self, order: &mut TextOrder) -> anyhow::Result<()> {
        if let Some(switch) = self.content_filter {
            order.content_filter = switch == Switch::On;
        }
        if !self.kinds.is_empty() {
            order.policy.kinds.clone_from(&self.kinds);
        }
        if let Some(accept) = self.accept {
            order.policy.accept = accept;
        }
        if let Some(reject) = self.reject {
            order.policy.reject = reject;
        }
        if let Some(choice) = self.unsure {
            order.unsure = choice.into();
        }
        if self.model.is_some() {
            order.model.clone_from(&self.model);
        }
        if !self.language.is_empty() {
            order.languages.clone_from(&self.language);
        }
        order.ocr |= self.ocr;
        order.store |= self.text;
        if let Err(error) = order.policy.check() {
            bail!("--accept and --reject: {error}");
        }
        if order.content_filter {
            // A model that cannot be used is found before anything is read.
            jobs::load_model(order.model.as_deref())?;
        }
        Ok(())
    }
}
