//! The installation as a whole, for those who look after it.

pub(crate) mod api;
pub(crate) mod page;
