//! Logs and lists: what crawlers write about what they got, and the files that it speaks of.
//!
//! A line is taken apart into fields (`layout`), which become a capture (`entry`), by what a `LogFormat` says. `LogSource`
//! finds the file of each; `LogIndex` looks lines up for captures that were read elsewhere. Neither keeps a log in memory.

mod blocks;
mod date;
mod entry;
mod field;
mod format;
mod format_file;
mod index;
mod layout;
mod lazy_file;
mod lines;
mod location;
mod mirror;
mod ordered;
mod root;
mod segment;
mod sorter;
mod source;
mod superseded;
mod template;

pub use format::LogFormat;
pub use index::LogIndex;
pub use source::LogSource;
