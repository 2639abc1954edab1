#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
use bolero as _;

pub mod filter;
#[cfg(test)]
mod fuzz;
pub mod normalise;
pub mod repair;
pub mod validation;
pub mod xml;
pub mod xpath;
