//! Logs and lists: what crawlers write about what they got, and the files that it speaks of.

mod format;
mod index;
mod source;

pub use format::LogFormat;
pub use index::LogIndex;
pub use source::LogSource;
