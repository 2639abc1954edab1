#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod filter;
pub mod normalise;
pub mod validation;
pub mod xml;
