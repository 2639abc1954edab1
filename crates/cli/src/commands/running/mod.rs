//! Commands that run jobs until they are stopped.

pub(crate) mod up;
pub(crate) mod worker;
