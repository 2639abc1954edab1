//! The pages that link to documents, and whitelists made of them.

pub(crate) mod api;
pub(crate) mod clean;
pub(crate) mod list;
