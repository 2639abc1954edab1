#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod base_directory;
mod harvest;
mod holdings;
mod introduction;
mod message;
pub mod rules;

pub use harvest::{Deleted, HarvestRepository, Progress, harvest, write_urls};
pub use holdings::Holdings;
pub use introduction::{SelfDescription, introduce};
pub use message::message;
