//! The treatment of documents whose bytes are not those that the digests of their archive were made of.

use serde::{Deserialize, Serialize};

/// The treatment of a digest that does not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DigestRule {
    /// The document is imported, and marked in the catalog and its `.met` file.
    #[default]
    Mark,
    /// The document is left out.
    Skip,
    /// Digests are not looked at.
    Ignore,
}

impl DigestRule {
    /// The rule of this name.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Mark, Self::Skip, Self::Ignore]
            .into_iter()
            .find(|rule| rule.name() == name)
    }

    /// Whether it is the one that holds where nothing is said.
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Skip => "skip",
            Self::Ignore => "ignore",
        }
    }
}
