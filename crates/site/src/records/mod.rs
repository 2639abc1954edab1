//! A directory of metadata files as a repository: one record a file, in the format that its folder or the namespace of its
//! root element says.
//!
//! The files are items of a site like all others, each with a format in the place of its media type, so that datestamps,
//! deletions and areas are those of sites. An empty file, one that is gone and one that is no record any more are deleted
//! records.

mod config;
mod formats;
mod known;
mod read;
mod view;

pub use config::{RecordFormatConfig, RecordsConfig};
pub use formats::Formats;
pub(crate) use formats::{RECORD, Typed};
pub use view::{RecordItem, RecordsView};
