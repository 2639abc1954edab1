//! Judgements of the texts of contents: the outcome of reading them, the decision of the content filter, and what
//! librarians said of that.
//!
//! All of it belongs to bytes, by their SHA-1. So documents with the same content stand alike, and what was rejected is
//! remembered although it is not kept.

mod correct;
mod entry;
mod probability;
mod read;
mod write;

pub use self::correct::Correction;
pub use self::entry::{Corrected, Judgement, JudgementRow, KnownContent};
pub use self::probability::Probability;
pub use self::read::{JudgedContent, JudgementQuery};

pub(crate) use self::entry::{COLUMNS, maybe};
pub(crate) use self::write::{repeat, write};
