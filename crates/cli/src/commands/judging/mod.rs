//! Commands of the content filter, and what it reads of a file.

pub(crate) mod classifier;
pub(crate) mod classify;
pub(crate) mod filter;
pub(crate) mod text;
