#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod client;
mod credentials;
mod encoding;
mod listing;
mod location;
mod reader;
mod signature;

pub use client::Bucket;
pub use location::Location;
