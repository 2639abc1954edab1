//! Keeps the index true: looks at the files, is told of changes, and asks the origin what it shows.

pub(crate) mod horizon;
pub(crate) mod indexer;
pub(crate) mod public;
pub(crate) mod refresh;
pub(crate) mod round;
pub(crate) mod scan;
pub(crate) mod sweep;
pub(crate) mod watch;
