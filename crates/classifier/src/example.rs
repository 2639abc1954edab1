//! Labelled documents: training data, evaluation data, and corrections made by librarians. All are lines of JSON.

use serde::{Deserialize, Deserializer, Serialize};

use super::Kind;

/// A labelled document.
///
/// A correction is one as well: `label` and `kind` as they should be, the text, and in `corrects` what the classifier
/// had said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Its name among others.
    #[serde(default, deserialize_with = "null_is_none")]
    pub id: String,
    /// Whether it is academic.
    pub label: Label,
    /// The finer kind.
    #[serde(
        default,
        skip_serializing_if = "String::is_empty",
        deserialize_with = "null_is_none"
    )]
    pub subtype: String,
    /// Its kind, where the subtype does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Whether reasonable people would differ about the label. The question "academic or not" is not learnt from
    /// these, the kind is.
    #[serde(default, deserialize_with = "null_is_none")]
    pub borderline: bool,
    /// The usual cue is missing or misleads.
    #[serde(default, deserialize_with = "null_is_none")]
    pub hard: bool,
    /// A group of fields of research.
    #[serde(default, deserialize_with = "null_is_none")]
    pub bucket: String,
    /// A field of research, or `general`.
    #[serde(
        default,
        skip_serializing_if = "String::is_empty",
        deserialize_with = "null_is_none"
    )]
    pub field: String,
    /// Its language, by a code of ISO 639-1.
    #[serde(
        default,
        skip_serializing_if = "String::is_empty",
        deserialize_with = "null_is_none"
    )]
    pub lang: String,
    /// Where it comes from: documents of one source never stand on both sides of a cross-validation.
    #[serde(default, deserialize_with = "null_is_none")]
    pub source: String,
    /// How many pages it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<usize>,
    /// Its text; form feeds end pages.
    pub text: String,
    /// The earlier answer about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrects: Option<Corrected>,
}

/// The answer of a classifier about a document that was corrected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Corrected {
    /// The version of the model.
    #[serde(default, deserialize_with = "null_is_none")]
    pub model: String,
    /// The probability that it gave.
    #[serde(default, deserialize_with = "null_is_none")]
    pub probability: f64,
    /// The kind that it gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// When it was corrected, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// The author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Whether a document is academic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// It is.
    Academic,
    /// It is not.
    #[default]
    Nonacademic,
}

impl Example {
    /// The kind to learn.
    pub fn kind(&self) -> Kind {
        self.kind.unwrap_or_else(|| Kind::of_subtype(&self.subtype))
    }

    pub(crate) fn is_academic(&self) -> bool {
        self.label == Label::Academic
    }
}

/// Reads a value that others write as `null` where there is none.
fn null_is_none<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
