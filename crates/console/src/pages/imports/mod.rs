//! Imports that run and that have run.

pub(crate) mod list;
pub(crate) mod show;
