//! How the index follows the site.

use serde::Deserialize;

/// How the index follows the site.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IndexConfig {
    /// Whether directories are watched.
    pub watch: bool,
    /// At most how many.
    pub watch_limit: usize,
    /// Seconds between two scans of the whole site, where all directories are watched.
    pub rescan_seconds: u64,
    /// Seconds between two scans of a site on a file system that other machines write to.
    pub network_rescan_seconds: u64,
    /// Seconds between two rounds of asking an origin whether it still shows what it showed.
    pub sweep_seconds: u64,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            watch: true,
            watch_limit: 100_000,
            rescan_seconds: 600,
            network_rescan_seconds: 60,
            sweep_seconds: 60,
        }
    }
}
