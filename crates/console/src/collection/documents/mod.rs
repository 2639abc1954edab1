//! Documents of the collection: pages and API.

pub(crate) mod api;
pub(crate) mod clean;
pub(crate) mod correct;
pub(crate) mod file;
pub(crate) mod list;
pub(crate) mod removal;
pub(crate) mod review;
pub(crate) mod review_api;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod statistics;
mod words;
