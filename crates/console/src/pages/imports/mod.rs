//! Imports that run and that have run.

pub(crate) mod add;
pub(crate) mod list;
pub(crate) mod show;
