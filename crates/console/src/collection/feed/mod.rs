//! The feed for search engines, which has no pages.

pub(crate) mod api;
