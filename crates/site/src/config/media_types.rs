//! Media types beyond the table that is built in.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// Media types beyond the table that is built in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MediaTypesConfig {
    /// Files in the format of Apache's mime.types; later ones win.
    pub tables: Vec<PathBuf>,
    /// Media types by extension; these win over the tables.
    pub extensions: BTreeMap<String, String>,
    /// The media type of files that have no known extension.
    pub default: Option<String>,
}
