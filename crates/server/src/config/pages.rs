//! How long pages may get.

use provider::PageLimits;
use serde::Deserialize;
use site::config::ByteSize;

/// How long pages may get; 0 is no limit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PagesConfig {
    /// Bytes of XML.
    pub bytes: ByteSize,
    /// Headers in an answer to ListIdentifiers.
    pub identifiers: u64,
    /// Records in an answer to ListRecords.
    pub records: u64,
    /// Seconds after which a page ends.
    pub seconds: u64,
    /// Questions to the origin after which a page ends.
    pub lookups: u64,
}

impl Default for PagesConfig {
    fn default() -> Self {
        let limits = PageLimits::default();
        Self {
            bytes: ByteSize(limits.bytes),
            identifiers: limits.identifiers,
            records: limits.records,
            seconds: limits.seconds,
            lookups: limits.lookups,
        }
    }
}
