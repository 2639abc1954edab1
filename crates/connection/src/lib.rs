#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod body;
mod client;
mod head;
mod patient;
mod register;
mod request_line;
mod serve;

pub use body::RequestBody;
pub use client::client_address;
pub use serve::{Limits, serve};
