//! Retrievals: documents selected, copied into one file by a job, and downloaded.

pub(crate) mod api;
pub(crate) mod form;
