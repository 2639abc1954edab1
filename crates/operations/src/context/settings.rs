//! Settings of the configuration file that operations go by.

use crate::ImportRules;
use crate::alerts::AlertRule;
use crate::overview::ExposedSite;
use crate::sites::ServedSites;

/// Settings of the configuration file that operations go by.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How often a job is tried (`[jobs] attempts`), whoever adds it.
    pub attempts: i64,
    /// Which imports may be ordered.
    pub imports: ImportRules,
    /// The sites that this process exposes.
    pub sites: Vec<ExposedSite>,
    /// Those of them that are served by now.
    pub served: ServedSites,
    /// The rules of alerts.
    pub alerts: Vec<AlertRule>,
    /// Whether e-mails can be sent.
    pub can_mail: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            attempts: Self::ATTEMPTS,
            imports: ImportRules::default(),
            sites: Vec::new(),
            served: ServedSites::default(),
            alerts: Vec::new(),
            can_mail: false,
        }
    }
}

impl Settings {
    /// How often a job is tried, unless it is configured.
    pub const ATTEMPTS: i64 = 5;
}
