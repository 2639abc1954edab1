//! Commands of the collection.

pub(crate) mod curation;
pub(crate) mod documents;
pub(crate) mod feed;
pub(crate) mod retrieve;
pub(crate) mod search;
pub(crate) mod statistics;
