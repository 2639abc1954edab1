#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod archive;
mod body;
mod capture;
mod error;
mod options;
mod source;
pub mod warc;

pub use archive::Archive;
pub use body::Body;
pub use capture::{Capture, Kind, Place};
pub use error::Error;
pub use options::{Limits, ReadOptions};
pub use source::{Ended, News, Skipped, Source, open};
