//! Flows over the collection: cleaned, retrieved, read whole, and sent to a search engine.

pub(crate) mod curation;
pub(crate) mod document_files;
pub(crate) mod retrieval;
pub(crate) mod solr;
pub(crate) mod words;
