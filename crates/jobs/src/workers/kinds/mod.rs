//! The kinds of jobs. A new one is a file here and a line of [`KINDS`].

mod classify;
mod clean;
mod feed;
mod harvest;
mod hook;
mod import;
mod retrieve;

use catalog::{JobEnd, JobKind, NewJob};

use super::work::Work;

/// A kind of job.
pub(super) trait Job: Sync {
    /// The kind, as the queue has it.
    fn kind(&self) -> JobKind;

    /// Whether its workers need the data directory of the catalog.
    fn needs_data_directory(&self) -> bool {
        true
    }

    /// Runs a job of this kind. [`Job::decide`] says what becomes of one that fails.
    fn run(&self, work: &Work<'_>) -> anyhow::Result<Ran>;

    /// The end of a job that failed.
    fn decide(&self, work: &Work<'_>, error: &anyhow::Error) -> JobEnd {
        work.failed(error)
    }

    /// The jobs that follow one that ends so.
    fn follow_ups(&self, _work: &Work<'_>, _end: &JobEnd) -> Vec<NewJob> {
        Vec::new()
    }
}

/// How far the end of a job that ran has come.
pub(super) enum Ran {
    /// It is to end so.
    Ends(JobEnd),
    /// Its end is in the catalog, written together with that of its harvest or import.
    Ended(Option<JobEnd>),
}

/// All kinds that workers run.
pub(super) static KINDS: [&dyn Job; 7] = [
    &harvest::Harvest,
    &hook::RunHook,
    &import::Import,
    &classify::Classify,
    &retrieve::Retrieve,
    &feed::Feed,
    &clean::Clean,
];
