//! The pages, a file each. A file has parameters, answer, handler and query, in this order.

pub(crate) mod api;
pub(crate) mod missing;
pub(crate) mod navigation;
pub(crate) mod theme;
