//! Commands that serve the shell and garner itself.

pub(crate) mod completions;
pub(crate) mod confine;
pub(crate) mod man;
