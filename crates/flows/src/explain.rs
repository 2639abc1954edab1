//! Why a document of the collection was judged as it was, from its stored text.

use catalog::{DocumentEntry, Judgement};
use classifier::{Classifier, Reason};

use crate::DocumentFiles;
use crate::judgement::{reasons, stored};

/// The reasons for and against, by the built-in model.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The version of the model that explains; the decision may be another's.
    pub model: String,
    /// The reasons for it, the weightiest first.
    pub spoke_for: Vec<Reason>,
    /// The reasons against it, the weightiest first.
    pub against: Vec<Reason>,
}

impl Explanation {
    /// Both sides: a name, what it is in words, and the reasons.
    pub fn sides(&self) -> [(&'static str, &'static str, &[Reason]); 2] {
        [
            ("spoke-for", "Signs of a paper or thesis", &self.spoke_for),
            ("against", "Signs against it", &self.against),
        ]
    }
}

/// Explains a document; `None` if its text is not stored.
pub fn explain(
    files: &DocumentFiles,
    document: &DocumentEntry,
    most: usize,
) -> anyhow::Result<Option<Explanation>> {
    let Some(text) = files.text(document.content)? else {
        return Ok(None);
    };
    Ok(Some(explain_text(text, document.judgement.as_ref(), most)))
}

/// Explains a text.
pub fn explain_text(text: String, judgement: Option<&Judgement>, most: usize) -> Explanation {
    let classifier = Classifier::built_in();
    let reasons = reasons(classifier, &stored(text, judgement));
    let reasons = reasons.into_iter().filter(|r| r.weight.abs() >= LEAST);
    let (mut spoke_for, mut against): (Vec<_>, Vec<_>) = reasons.partition(|r| r.weight > 0.0);
    spoke_for.truncate(most);
    against.truncate(most);
    Explanation {
        model: classifier.version().to_owned(),
        spoke_for,
        against,
    }
}

/// The weight below which a reason says nothing.
const LEAST: f64 = 0.005;
