//! WARC 1.1 (ISO 28500:2017), for now only written.

mod digest;
mod error;
mod file;
mod head;
mod records;
mod recovery;
mod writer;

pub use error::Error;
pub use records::{Record, RecordKind, Records};
pub use recovery::Position;
pub use writer::{Capture, Settings, Writer};
