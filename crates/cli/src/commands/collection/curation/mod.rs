//! Commands that curate the collection.

pub(crate) mod lists;
pub(crate) mod parents;
pub(crate) mod whitelist;
