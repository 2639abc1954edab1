#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bounded;
mod catalog;
mod database;
mod dialect;
mod error;
mod formats;
mod history;
mod memberships;
mod migrations;
mod owner;
mod page;
mod records;
mod repositories;
mod rows;
mod runs;
mod sets;

pub use catalog::Catalog;
pub use error::Error;
pub use formats::MetadataFormat;
pub use history::{Counts, HistoryEntry, HistoryQuery, State, Warning};
pub use page::{Outcome, PageCommit, RecordRow, Validation};
pub use records::{FormatCounts, Known, RecordEntry, RecordQuery};
pub use repositories::{Identity, Repository, RepositoryCounts};
pub use runs::{Finish, NewRun, Run};
pub use sets::Set;
