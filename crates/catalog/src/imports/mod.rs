//! Imports: begun or gone on with, kept alive, group after group committed, ended.
//!
//! An import is a row of its own and has its lease, as a harvest is one of the history. Several run at
//! once; what they write is the same in whatever order their groups come, and if a group comes twice (`fold`).

mod begin;
mod capture;
mod commit;
mod contents;
mod counters;
mod documents;
mod entry;
mod extractions;
mod finish;
mod fold;
mod lacking;
mod lease;
mod outdated;
mod parents;
mod repair;
mod reserve;
mod retention;
mod revisits;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Serialize;

use crate::JobLease;
use crate::queue::lease::Lease;

pub use self::capture::{CaptureOutcome, CaptureRow, ContentRow, ParentRow, Placement};
pub use self::commit::{GroupCommit, GroupOutcome, Superfluous};
pub(crate) use self::contents::pinned;
pub use self::counters::ImportCounters;
pub(crate) use self::documents::{changed, reversed};
pub use self::entry::{ImportEntry, ImportQuery, ImportState, ImportWarning};
pub(crate) use self::entry::{entries_of_runs, run_of_import};
pub use self::extractions::ExtractionClaim;
pub use self::finish::FinishImport;
pub use self::lacking::Lacking;
pub(crate) use self::lease::lock_collection;
pub use self::retention::RemovedImport;

/// The order of an import.
#[derive(Debug, Clone)]
pub struct NewImport {
    /// Everything that was asked for, as JSON. With the sources, it tells whether an import is the same again.
    pub parameters: String,
    /// The sources, in their order.
    pub sources: Vec<NewSource>,
    /// Whether a document's older contents are kept.
    pub keep_versions: bool,
    /// How long nobody else may take it over without hearing of this process.
    pub lease: Duration,
    /// The job that it belongs to, as this worker has it.
    pub job: Option<JobLease>,
}

/// A source that is to be imported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewSource {
    /// Its name.
    pub name: String,
    /// How it begins, or a digest of that: another file under an old name is another source.
    pub beginning: String,
    /// Whether what was read of it stays as it is, so that the next import of a schedule reads on behind it.
    pub is_appended_to: bool,
}

/// An import that this process holds.
#[derive(Debug)]
pub struct Import {
    pub(crate) lease: Lease,
    pub(crate) keep_versions: bool,
    pub(crate) is_resumed: bool,
    pub(crate) counters: ImportCounters,
    /// How many groups were committed.
    pub(crate) groups: i64,
    pub(crate) positions: Vec<SourcePosition>,
    /// The numbers that were given to contents and not committed yet, by their SHA-1.
    pub(crate) reserved: HashMap<String, i64>,
    /// The numbers that documents are to have, by the MD5 of their URLs.
    pub(crate) preferred: HashMap<String, i64>,
    /// Numbers of contents that were not given out here: documents of others may have them.
    pub(crate) preferred_contents: HashSet<i64>,
    /// Files that are to be removed, left by the process that had it before.
    pub(crate) superfluous: Vec<Superfluous>,
    /// The extraction that is loaded, if one is: it is noted with the last group of its source.
    pub(crate) extraction: Option<String>,
    /// The rows as of the last reserved group.
    loaded: Option<documents::Loaded>,
}

/// How far a source was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourcePosition {
    /// The name of the source.
    pub source: String,
    /// All before this was committed.
    pub position: u64,
    /// Whether it was read to its end.
    pub done: bool,
}

impl NewImport {
    /// An import that keeps no versions and belongs to no job.
    pub fn new(parameters: impl Into<String>, sources: Vec<String>) -> Self {
        Self {
            parameters: parameters.into(),
            sources: sources.into_iter().map(Into::into).collect(),
            keep_versions: false,
            lease: Duration::from_secs(120),
            job: None,
        }
    }
}

impl From<String> for NewSource {
    /// A source that nothing but the name is known of.
    fn from(name: String) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }
}

impl Import {
    /// Its number.
    pub fn id(&self) -> i64 {
        self.lease.id
    }

    /// Whether an earlier process began it.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// The counters so far, including those before it was resumed.
    pub fn counters(&self) -> ImportCounters {
        self.counters
    }

    /// Files that an earlier process was about to remove: nothing in the catalog speaks of them any more.
    pub fn superfluous(&self) -> &[Superfluous] {
        &self.superfluous
    }

    /// Numbers that were given to contents which no group brought.
    pub fn reserved(&self) -> impl Iterator<Item = i64> {
        self.reserved.values().copied()
    }

    /// Lets a content that is not known have a number that is free, instead of the next one.
    pub fn prefer(&mut self, sha1: &str, number: i64) {
        self.reserved.insert(sha1.to_owned(), number);
        self.preferred_contents.insert(number);
    }

    /// Lets a document that is not known have a number that is free.
    pub fn prefer_document(&mut self, md5: &str, number: i64) {
        self.preferred.insert(md5.to_owned(), number);
    }

    /// How far each source was read, in their order.
    pub fn positions(&self) -> &[SourcePosition] {
        &self.positions
    }
}
