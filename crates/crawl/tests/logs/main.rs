//! Logs and lists as sources: mirrors made here, real logs where the samples are, and lines that nobody should write.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod formats;
mod hostile;
mod index;
mod lists;
mod mirrors;
mod samples;
mod support;
