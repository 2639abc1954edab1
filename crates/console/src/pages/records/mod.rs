//! Records: the list, one of them to read, and its file.

pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod xml;
