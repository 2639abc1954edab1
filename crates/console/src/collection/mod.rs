//! Pages of the collection: documents, parents, lists, retrievals and the feed.

pub(crate) mod documents;
pub(crate) mod feed;
pub(crate) mod lists;
pub(crate) mod parents;
pub(crate) mod retrievals;
pub(crate) mod search;
