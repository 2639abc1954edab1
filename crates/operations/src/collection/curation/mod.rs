//! Curation beside single documents: parents, whitelists, named lists.

pub(crate) mod clean_order;
pub mod lists;
pub mod parents;
mod table;
pub mod whitelist;
