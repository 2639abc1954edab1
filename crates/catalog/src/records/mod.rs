//! Records: committed page by page, counted, listed and searched.

pub(crate) mod again;
pub(crate) mod entry;
pub(crate) mod holding;
pub(crate) mod keeping;
pub(crate) mod memberships;
pub(crate) mod page;
pub(crate) mod rarity;
pub(crate) mod search;
pub(crate) mod statement;
pub(crate) mod words;
