//! Rules of alerts, and webhooks after harvests.

pub(crate) mod api;
pub(crate) mod page;
