//! Settings of the configuration file that operations go by.

use crate::ImportRules;
use crate::alerts::AlertRule;
use crate::overview::ExposedSite;

/// Settings of the configuration file that operations go by.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How often a job is tried (`[jobs] attempts`), whoever adds it.
    pub attempts: i64,
    /// Which imports may be ordered.
    pub imports: ImportRules,
    /// The sites that this process exposes.
    pub sites: Vec<ExposedSite>,
    /// The rules of alerts.
    pub alerts: Vec<AlertRule>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            attempts: Self::ATTEMPTS,
            imports: ImportRules::default(),
            sites: Vec::new(),
            alerts: Vec::new(),
        }
    }
}

impl Settings {
    /// How often a job is tried, unless it is configured.
    pub const ATTEMPTS: i64 = 5;
}
