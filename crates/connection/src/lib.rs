#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod body;
mod client;
mod coding;
mod head;
mod patient;
mod register;
mod request_line;
mod serve;

pub use body::RequestBody;
pub use client::client_address;
pub use coding::accepts_gzip;
pub use serve::{Limits, serve};
