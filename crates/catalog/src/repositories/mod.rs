//! Repositories: their identity, formats, sets, health and removal.

pub(crate) mod entry;
pub(crate) mod formats;
pub(crate) mod health;
pub(crate) mod host;
pub(crate) mod overview;
pub(crate) mod recent;
pub(crate) mod removal;
pub(crate) mod sets;
pub(crate) mod statistics;
pub(crate) mod tags;
