#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod harmful;
mod repeats;
mod throttle;

pub use repeats::Repeats;
pub use throttle::Throttle;
