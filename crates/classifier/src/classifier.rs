//! A classifier, ready to answer.

use std::sync::LazyLock;

use super::explain::{self, Reason};
use super::learn::{Sample, Training};
use super::model::{Model, Trained};
use super::reading::Reading;
use super::{Answer, Error, Vocabulary, cdi};

/// Tells academic documents from others by their text.
#[derive(Debug, Clone)]
pub struct Classifier(Inner);

#[derive(Debug, Clone)]
enum Inner {
    Model(Box<Model>),
    Cdi2012,
}

impl Classifier {
    /// The model that this program brings along.
    pub fn built_in() -> &'static Self {
        static ONE: LazyLock<Classifier> = LazyLock::new(|| {
            let model = include_bytes!("../models/papers.model");
            Classifier::read(model)
                .expect("the model in the program was made by it, as a test proves")
        });
        &ONE
    }

    /// The rule of the original importer, for comparison.
    pub fn cdi_2012() -> Self {
        Self(Inner::Cdi2012)
    }

    /// Reads a model as `write` left it.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let model = Model::read(bytes)?;
        Ok(Self(Inner::Model(Box::new(model))))
    }

    /// Learns a model from labelled documents. `progress` is told how many of how many steps are done.
    pub fn train(
        training: &Training,
        samples: &[Sample],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, Error> {
        let model = training.train(samples, progress)?;
        Ok(Self(Inner::Model(Box::new(model))))
    }

    /// The model with more words, as [`Vocabulary::extended`](super::Vocabulary::extended) reads them; those that it has
    /// stay. It need not be trained again: it weighs meanings, in whatever words. The rule has no words.
    pub fn with_words(&self, lines: &str) -> Result<Self, Error> {
        let Inner::Model(model) = &self.0 else {
            return Ok(self.clone());
        };
        // The mistakes of these lines come with the numbers that they have here.
        Vocabulary::extended(lines)?;
        let mut head = model.head.clone();
        if !head.vocabulary.is_empty() && !head.vocabulary.ends_with('\n') {
            head.vocabulary.push('\n');
        }
        head.vocabulary
            .push_str(lines.trim_start_matches('\u{feff}'));
        let model = Model::new(head, model.words.clone())?;
        Ok(Self(Inner::Model(Box::new(model))))
    }

    /// The model as bytes of a file; none of the rule, which is no file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        match &self.0 {
            Inner::Model(model) => model.to_bytes(),
            Inner::Cdi2012 => Ok(Vec::new()),
        }
    }

    /// Tells models apart: the beginning of the digest of the file.
    pub fn version(&self) -> &str {
        match &self.0 {
            Inner::Model(model) => &model.version,
            Inner::Cdi2012 => CDI_2012,
        }
    }

    /// The training data of the model.
    pub fn trained(&self) -> Option<&Trained> {
        match &self.0 {
            Inner::Model(model) => Some(&model.head.trained),
            Inner::Cdi2012 => None,
        }
    }

    /// Judges a text. `pages` is how many pages the document has, if that is known; form feeds in the text tell
    /// otherwise. The work is bounded whatever the text is.
    pub fn classify(&self, text: &str, pages: Option<usize>) -> Answer {
        match &self.0 {
            Inner::Model(model) => model.answer(&Reading::new(text, pages, &model.vocabulary)),
            Inner::Cdi2012 => cdi::answer(text),
        }
    }

    /// The reasons for and against, the weightiest first.
    pub fn explain(&self, text: &str, pages: Option<usize>) -> Vec<Reason> {
        match &self.0 {
            Inner::Model(model) => {
                explain::reasons(model, &Reading::new(text, pages, &model.vocabulary))
            }
            Inner::Cdi2012 => cdi::reasons(text),
        }
    }
}

/// The name of the rule of the original importer.
pub const CDI_2012: &str = "cdi-2012";

/// Answers about each document by a model that has seen no document of its source.
pub fn cross_validate(
    training: &Training,
    samples: &[Sample],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Answer>, Error> {
    training.cross_validate(samples, progress)
}

/// Answers about each document by a model that has seen no document of its group, and none of a source of which the group
/// has documents. `groups` has a name for each of `samples`, such as its language.
pub fn hold_out(
    training: &Training,
    samples: &[Sample],
    groups: &[&str],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Answer>, Error> {
    training.hold_out(samples, groups, progress)
}
