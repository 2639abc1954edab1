//! The events of an import: the outcome for each document, and the progress.

use catalog::ImportCounters;

/// Something that somebody who waits for the end wants to know.
#[derive(Debug)]
pub enum ImportEvent<'a> {
    /// A sentence.
    Note(&'a str),
    /// The outcome for some documents, in the order of the source. Those that are kept are safe by then.
    Fates(&'a [Fate]),
    /// How far it is with fetching what is imported then.
    Fetching(FetchProgress<'a>),
    /// How far it is.
    Progress(ImportProgress<'a>),
}

/// How far an import is with fetching its sources.
#[derive(Debug, Clone, Copy)]
pub struct FetchProgress<'a> {
    /// The source that is being fetched.
    pub file: &'a str,
    /// How many bytes came.
    pub done: u64,
    /// How many there are to come.
    pub total: u64,
}

/// How far an import is.
#[derive(Debug, Clone, Copy)]
pub struct ImportProgress<'a> {
    /// The source that is being read.
    pub source: &'a str,
    /// How many bytes were gone through.
    pub done: u64,
    /// How many there are.
    pub total: u64,
    /// The counts so far.
    pub counters: &'a ImportCounters,
}

/// The outcome for one document, or for something that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fate {
    /// The outcome.
    pub kind: FateKind,
    /// Its URL; of what has none, the place.
    pub name: String,
    /// The number it has, the rule that refused it, or the reason for the failure.
    pub detail: String,
    /// The file of the crawl and the place in it.
    pub place: String,
    /// How far it came.
    pub stage: Stage,
    /// Its number in the collection, if it is kept.
    pub number: Option<i64>,
}

/// How far a capture came through the filters; it was stopped by the one that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Its status, its URL, or what is no readable record.
    Before,
    /// The filter of media types.
    MediaType,
    /// Taking its text.
    Text,
    /// The content filter.
    Content,
    /// Through all of them.
    Kept,
}

/// The possible outcomes for a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FateKind {
    /// Its URL and its content are new.
    New,
    /// Its URL is new, and its content is known under another.
    KnownContent,
    /// Its URL is known, and its content is new.
    NewVersion,
    /// Its URL and its content are known.
    Duplicate,
    /// A crawler saw it again and found it to be the same.
    Revisited,
    /// It is not wanted.
    Filtered,
    /// It could not be had.
    Failed,
    /// Something that is no readable record.
    Skipped,
}

impl FateKind {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::KnownContent => "new URL",
            Self::NewVersion => "changed",
            Self::Duplicate => "duplicate",
            Self::Revisited => "seen again",
            Self::Filtered => "filtered",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}
