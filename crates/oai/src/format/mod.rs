//! Metadata formats: what each is called, and how it is written.

pub mod didl;
pub mod dublin_core;
pub mod http_header;
pub mod rights;

/// A metadata format as ListMetadataFormats names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataFormat {
    /// The metadataPrefix.
    pub prefix: String,
    /// The URL of its XML Schema.
    pub schema: String,
    /// Its XML namespace.
    pub namespace: String,
}
