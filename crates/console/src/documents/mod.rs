//! Documents of the collection: pages and API.

pub(crate) mod api;
pub(crate) mod clean;
pub(crate) mod correct;
pub(crate) mod file;
pub(crate) mod list;
pub(crate) mod removal;
pub(crate) mod show;
