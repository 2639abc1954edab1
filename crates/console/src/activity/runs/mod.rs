//! Runs: the one page and the one list of everything that was done, is done or is to be done; pages and API.

pub(crate) mod actions;
pub(crate) mod api;
pub(crate) mod compare;
pub(crate) mod downloads;
pub(crate) mod list;
pub(crate) mod redirects;
pub(crate) mod remove;
pub(crate) mod show;
