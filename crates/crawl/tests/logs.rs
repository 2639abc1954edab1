//! Logs and lists as sources: mirrors made here, real logs where the samples are, and lines that nobody should write.

#[path = "logs/support.rs"]
mod support;

#[path = "logs/formats.rs"]
mod formats;
#[path = "logs/hostile.rs"]
mod hostile;
#[path = "logs/index.rs"]
mod index;
#[path = "logs/lists.rs"]
mod lists;
#[path = "logs/mirrors.rs"]
mod mirrors;
#[path = "logs/samples.rs"]
mod samples;
