//! How much of a resource goes into its record.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ByteSize;
use crate::ground::media_types::essence;

/// How much of a resource goes into its `oai_didl` record.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ByValueConfig {
    /// Larger files are given by reference only.
    pub limit: ByteSize,
    /// Other limits for some media types; `video/*` = 0 leaves all videos to the reference.
    pub media_types: BTreeMap<String, ByteSize>,
}

impl Default for ByValueConfig {
    fn default() -> Self {
        Self {
            // Quirk: lxml, and with it most harvesters in Python, cuts text at ten million characters
            // without a word; 7 MiB stay below that in base64.
            limit: ByteSize(7 * 1024 * 1024),
            media_types: BTreeMap::new(),
        }
    }
}

impl ByValueConfig {
    /// The limit for a media type: the entry of the type itself, of its kind, or the general one.
    pub fn limit_of(&self, media_type: &str) -> u64 {
        let essence = essence(media_type);
        let kind = essence.split('/').next().unwrap_or_default();
        let entry = self
            .media_types
            .get(essence)
            .or_else(|| self.media_types.get(&format!("{kind}/*")));
        entry.unwrap_or(&self.limit).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_limit_counts() {
        let mut config = ByValueConfig::default();
        config.media_types.insert("video/*".to_owned(), ByteSize(0));
        config
            .media_types
            .insert("video/ogg".to_owned(), ByteSize(5));

        assert_eq!(config.limit_of("video/mp4"), 0);
        assert_eq!(config.limit_of("video/ogg; x=y"), 5);
        assert_eq!(config.limit_of("text/html"), 7 << 20);
    }
}
