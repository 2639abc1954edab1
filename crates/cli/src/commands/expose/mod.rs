//! Commands that expose a site.

pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod robots;
pub(crate) mod serve;
