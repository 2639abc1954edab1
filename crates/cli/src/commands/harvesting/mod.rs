//! Commands about repositories and the records harvested from them.

pub(crate) mod harvest;
pub(crate) mod history;
pub(crate) mod records;
pub(crate) mod repository;
pub(crate) mod schedule;
pub(crate) mod with_quiet;
