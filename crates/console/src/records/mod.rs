//! Records: pages and API. All texts of records come from outside: pages show them as text, never as HTML.

pub(crate) mod api;
pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod tree;
pub(crate) mod xml;
