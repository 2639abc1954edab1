//! The history of harvests: API, CSV and removal. The list and the page of a harvest are those of runs.

pub(crate) mod api;
pub(crate) mod csv;
mod filter;
pub(crate) mod remove;

pub(crate) use self::filter::HistoryFilter;
