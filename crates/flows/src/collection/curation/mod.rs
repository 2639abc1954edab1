//! Curation of the collection: cleaning, the trash, the links of parents.

pub(crate) mod clean;
pub(crate) mod links;
pub(crate) mod trash;
