//! `[records]`: which formats the files of a directory have, and how records are called.

use serde::Deserialize;

/// Records in files.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecordsConfig {
    /// Whether the files of the directory are records, and not a site.
    pub enabled: bool,
    /// The beginning of all identifiers; `oai:HOST:` with the host of the base URL if there is none.
    pub identifier: Option<String>,
    /// Formats beyond those that are known, or other ones.
    pub format: Vec<RecordFormatConfig>,
}

/// `[[records.format]]`: a format.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecordFormatConfig {
    /// Its metadataPrefix.
    pub prefix: String,
    /// The namespace of the root element.
    pub namespace: Option<String>,
    /// The URL of its XML schema.
    pub schema: Option<String>,
    /// The folder of its files; they have it nowhere else then, and it is no part of their identifiers.
    pub folder: Option<String>,
}
