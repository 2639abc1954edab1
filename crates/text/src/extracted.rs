//! The text and properties taken out of a document.

use std::fmt;

/// The text and properties taken out of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// Whether there is text, or why not.
    pub outcome: Outcome,
    /// The text, with form feeds behind pages. Also where a limit or damage cut it short, and what little text a document of
    /// images has; else empty.
    pub text: String,
    /// How many pages it was taken from, where there are pages.
    pub pages: Option<u32>,
    /// Which programs gave it, with their versions, such as `pdftotext 22.12.0`.
    pub engine: Option<String>,
    /// Whether the text goes on beyond what is kept.
    pub truncated: bool,
    /// The fault, in words.
    pub note: Option<String>,
    /// The title in the metadata of the document, unjudged; [`title`](crate::title) judges it.
    pub title: Option<String>,
}

/// Whether there is text, or why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// There is text.
    Text,
    /// It cannot be read without a password.
    Encrypted,
    /// It is not what it says it is, or not all of it is there.
    Damaged,
    /// There is nothing in it.
    Empty,
    /// Its pages show something, but there is no text, or next to none.
    ImageOnly,
    /// Reading it took more than it may; the text that was there by then is kept.
    Limit(Limit),
    /// The program that reads such documents is not installed.
    EngineMissing,
    /// No program is known that reads such documents, or it was not asked for.
    Unsupported,
    /// Something went wrong that says nothing about the document, or a program crashed on it.
    Failed,
}

/// A limit that a document reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Of time.
    Time,
    /// Of processor time.
    Processor,
    /// Of memory.
    Memory,
    /// Of what it unfolds to.
    Size,
}

impl Extracted {
    /// An outcome without a text.
    pub(super) fn without_text(outcome: Outcome, note: impl Into<String>) -> Self {
        let note = note.into();
        Self {
            outcome,
            text: String::new(),
            pages: None,
            engine: None,
            truncated: false,
            note: (!note.is_empty()).then_some(note),
            title: None,
        }
    }

    /// How many words the text has.
    pub fn words(&self) -> usize {
        self.text.split_whitespace().count()
    }
}

impl Outcome {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Encrypted => "encrypted",
            Self::Damaged => "damaged",
            Self::Empty => "empty",
            Self::ImageOnly => "image-only",
            Self::Limit(Limit::Time) => "limit-time",
            Self::Limit(Limit::Processor) => "limit-processor",
            Self::Limit(Limit::Memory) => "limit-memory",
            Self::Limit(Limit::Size) => "limit-size",
            Self::EngineMissing => "engine-missing",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
        }
    }
}

impl Outcome {
    /// All there are.
    pub const ALL: [Self; 12] = [
        Self::Text,
        Self::Encrypted,
        Self::Damaged,
        Self::Empty,
        Self::ImageOnly,
        Self::Limit(Limit::Time),
        Self::Limit(Limit::Processor),
        Self::Limit(Limit::Memory),
        Self::Limit(Limit::Size),
        Self::EngineMissing,
        Self::Unsupported,
        Self::Failed,
    ];

    /// The outcome of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
