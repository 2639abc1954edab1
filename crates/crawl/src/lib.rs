#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
use bolero as _;

mod archive;
mod body;
mod capture;
mod error;
mod log;
mod options;
mod roots;
mod source;
mod url;
pub mod warc;

pub use archive::{Archive, Family, HttpMessage, RawEvent, RawRecord};
pub use body::Body;
pub use capture::{Capture, Checked, DigestCheck, Kind, Oddity, Place, RecordCheck};
pub use error::Error;
pub use log::{LogFormat, LogIndex, LogSource};
pub use options::{Limits, ReadOptions};
pub use roots::Roots;
pub use source::{Ended, Skipped, Source, SourceEvent, open};
