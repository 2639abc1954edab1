//! The collection: documents found, judged, cleaned, retrieved and fed to others.

pub(crate) mod curation;
pub mod documents;
pub mod feed;
pub mod retrieve;
pub mod reviews;
pub mod search;
pub mod statistics;
