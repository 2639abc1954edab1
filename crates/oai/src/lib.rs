#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod arguments;
mod datestamp;
mod error;
pub mod format;
#[cfg(test)]
mod fuzz;
mod metadata_prefix;
mod record;
mod request;
mod response;
mod resumption_token;
mod set_spec;
pub mod xml;

pub use arguments::Arguments;
pub use datestamp::{Datestamp, Granularity};
pub use error::{Error, ErrorCode};
pub use metadata_prefix::MetadataPrefix;
pub use record::RecordHeader;
pub use request::{ListRequest, Request, Selection, Verb};
pub use response::{Identify, Response, Set, TokenElement};
pub use resumption_token::{ListVerb, Position, ResumptionToken, TokenKey};
pub use set_spec::SetSpec;
