//! Repositories: found, introduced, removed.

pub(crate) mod base_directory;
pub mod friends;
pub(crate) mod introduction;
pub(crate) mod removal;
