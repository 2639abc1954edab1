//! The history: the list, one harvest, two side by side, the way out, and the list for spreadsheets.

pub(crate) mod compare;
pub(crate) mod csv;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod show;
