//! `/repositories`: all of them, one of them, and the ways to add, ask, correct, harvest and remove one.

pub(crate) mod actions;
pub(crate) mod add;
pub(crate) mod edit;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod sets;
pub(crate) mod show;
