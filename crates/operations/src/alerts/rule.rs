//! A rule: when it fires, and who is told.

use serde::Deserialize;

use crate::repositories::Repository;

/// When a rule fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// The last `times` harvests of a repository failed.
    Failing,
    /// No harvest of a repository brought anything for `days`.
    Silent,
    /// The last harvest of a repository deleted more than `percent` of its records.
    Deletions,
    /// The disk of the data directory has less than `gigabytes` left.
    Disk,
    /// A job has been due for `minutes`.
    Queue,
}

/// A rule of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlertRule {
    /// Its name, unique.
    pub name: String,
    /// When it fires.
    pub when: When,
    /// The number of failures in a row, for `failing`.
    pub times: Option<u32>,
    /// Days, for `silent`.
    pub days: Option<u32>,
    /// A share of the records, for `deletions`.
    pub percent: Option<u32>,
    /// Free space, for `disk`.
    pub gigabytes: Option<u64>,
    /// Minutes, for `queue`.
    pub minutes: Option<u32>,
    /// The base URL or the number of the one repository that it is for.
    pub repository: Option<String>,
    /// The receivers of an e-mail.
    #[serde(default)]
    pub email: Vec<String>,
    /// The URL that is told by POST.
    pub webhook: Option<String>,
    /// The key that webhooks are signed with.
    pub secret: Option<String>,
    /// The least time between two messages.
    #[serde(default = "an_hour")]
    pub pause_minutes: u32,
}

fn an_hour() -> u32 {
    60
}

impl AlertRule {
    /// The first mistake in a rule, if there is one.
    pub fn mistake(&self) -> Option<String> {
        let limits = [
            (When::Failing, "times", self.times.map(u64::from)),
            (When::Silent, "days", self.days.map(u64::from)),
            (When::Deletions, "percent", self.percent.map(u64::from)),
            (When::Disk, "gigabytes", self.gigabytes),
            (When::Queue, "minutes", self.minutes.map(u64::from)),
        ];
        let name = &self.name;
        for (when, key, value) in limits {
            match (when == self.when, value) {
                (true, None) => return Some(format!("the alert `{name}` lacks `{key}`")),
                (true, Some(0)) if when != When::Deletions => {
                    return Some(format!("`{key}` of the alert `{name}` must be more than 0"));
                }
                (false, Some(_)) => {
                    return Some(format!(
                        "`{key}` does not go with the `when` of the alert `{name}`"
                    ));
                }
                _ => {}
            }
        }
        let wrong = self.email.iter().find(|address| !address.contains('@'));
        wrong.map(|address| format!("`{address}` of the alert `{name}` is no e-mail address"))
    }

    /// Whether the rule is about a repository.
    pub(super) fn is_about(&self, repository: &Repository) -> bool {
        self.repository.as_deref().is_none_or(|wanted| {
            wanted == repository.base_url || wanted == repository.id.to_string()
        })
    }
}
