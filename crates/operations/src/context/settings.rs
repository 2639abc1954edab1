//! Settings of the configuration file that operations go by.

use flows::Confiner;

use crate::ImportRules;
use crate::aggregator::Aggregator;
use crate::alerts::AlertRule;
use crate::mail::Mailer;
use crate::overview::ExposedSite;
use crate::sites::ServedSites;
use crate::system::Configuration;

/// Settings of the configuration file that operations go by.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How often a job is tried (`[jobs] attempts`), whoever adds it.
    pub attempts: i64,
    /// Which imports may be ordered.
    pub imports: ImportRules,
    /// How this process exposes the catalog.
    pub aggregator: Aggregator,
    /// The sites that this process exposes.
    pub sites: Vec<ExposedSite>,
    /// Those of them that are served by now.
    pub served: ServedSites,
    /// The rules of alerts.
    pub alerts: Vec<AlertRule>,
    /// The server that takes e-mails.
    pub mailer: Mailer,
    /// The settings that were made, for people to look at.
    pub configuration: Configuration,
    /// How programs that read documents are started; without it they are not looked at.
    pub confiner: Option<Confiner>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            attempts: Self::ATTEMPTS,
            imports: ImportRules::default(),
            aggregator: Aggregator::default(),
            sites: Vec::new(),
            served: ServedSites::default(),
            alerts: Vec::new(),
            mailer: Mailer::default(),
            configuration: Configuration::default(),
            confiner: None,
        }
    }
}

impl Settings {
    /// How often a job is tried, unless it is configured.
    pub const ATTEMPTS: i64 = 5;
}
