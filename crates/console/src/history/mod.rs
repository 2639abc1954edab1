//! The history of harvests: pages and API.

pub(crate) mod api;
pub(crate) mod compare;
pub(crate) mod csv;
mod filter;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod show;

pub(crate) use self::filter::HistoryFilter;
