#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod holdings;
mod introduction;

pub use holdings::Holdings;
pub use introduction::introduce;
