//! The collection: documents that imports brought.

pub(crate) mod correct;
pub(crate) mod file;
pub(crate) mod list;
pub(crate) mod show;
