#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod harmful;
mod repeats;
mod throttle;

pub use repeats::Repeats;
pub use throttle::Throttle;

/// Whether two secrets are the same, in a time that tells nothing of how much of them is.
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one
        .iter()
        .zip(other)
        .fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differences == 0
}
