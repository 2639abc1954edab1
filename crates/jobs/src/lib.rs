#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod alert;
pub mod hook;
mod manager;
mod workers;

pub use manager::{Manager, ManagerOptions, Retention};
pub use workers::{Backoff, Bell, LONGEST_WAIT, WorkerOptions, Workers};
