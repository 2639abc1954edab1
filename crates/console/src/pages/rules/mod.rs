//! Filters and mappings: the list, the form with its trial, and the way out.

pub(crate) mod add;
pub(crate) mod edit;
mod form;
pub(crate) mod list;
pub(crate) mod remove;
