#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
use bolero as _;

pub mod container;
pub mod digest;
#[cfg(test)]
mod fuzz;
pub mod media_type;
pub mod url;
