//! The robots.txt.

use serde::Deserialize;

/// The robots.txt.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RobotsConfig {
    /// Whether a robots.txt is served where the site has none.
    pub advertise: bool,
    /// Whether it asks robots to keep to the repository.
    pub exclusive: bool,
}

impl Default for RobotsConfig {
    fn default() -> Self {
        Self {
            advertise: true,
            exclusive: false,
        }
    }
}
