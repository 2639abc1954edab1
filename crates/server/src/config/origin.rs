//! The web server to stand beside.

use serde::Deserialize;

/// The web server to stand beside.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OriginConfig {
    /// Where it serves the site's root.
    pub url: Option<String>,
    /// How long an answer of it is believed.
    pub cache_seconds: u64,
    /// How long it may take.
    pub timeout_seconds: u64,
    /// Requests to it at once.
    pub connections: usize,
}

impl Default for OriginConfig {
    fn default() -> Self {
        Self {
            url: None,
            cache_seconds: 5,
            timeout_seconds: 10,
            connections: 8,
        }
    }
}
