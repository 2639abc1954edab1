//! A rule: when it fires, and who is told.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::repositories::Repository;

/// When a rule fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

/// A rule, of the configuration file or of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AlertRule {
    /// Its name, unique.
    pub name: String,
    /// When it fires.
    pub when: When,
    /// The number of failures in a row, for `failing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// Days, for `silent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// A share of the records, for `deletions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u32>,
    /// Free space, for `disk`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gigabytes: Option<u64>,
    /// Minutes, for `queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
    /// The base URL or the number of the one repository that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The receivers of an e-mail.
    #[serde(default)]
    pub email: Vec<String>,
    /// The URL that is told by POST.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// The key that webhooks are signed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The least time between two messages.
    #[serde(default = "an_hour")]
    pub pause_minutes: u32,
    /// Whether it is one of the catalog.
    #[serde(skip)]
    pub is_saved: bool,
}

fn an_hour() -> u32 {
    60
}

impl When {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Failing,
        Self::Silent,
        Self::Deletions,
        Self::Disk,
        Self::Queue,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Silent => "silent",
            Self::Deletions => "deletions",
            Self::Disk => "disk",
            Self::Queue => "queue",
        }
    }

    /// The one with this word.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|when| when.name() == name)
    }

    /// The name of its limit.
    pub fn limit(self) -> &'static str {
        match self {
            Self::Failing => "times",
            Self::Silent => "days",
            Self::Deletions => "percent",
            Self::Disk => "gigabytes",
            Self::Queue => "minutes",
        }
    }
}

impl AlertRule {
    /// A rule that tells nobody yet.
    pub fn new(name: impl Into<String>, when: When, limit: u32) -> Self {
        let of = |one| (when == one).then_some(limit);
        Self {
            name: name.into(),
            when,
            times: of(When::Failing),
            days: of(When::Silent),
            percent: of(When::Deletions),
            gigabytes: of(When::Disk).map(u64::from),
            minutes: of(When::Queue),
            repository: None,
            email: Vec::new(),
            webhook: None,
            secret: None,
            pause_minutes: an_hour(),
            is_saved: false,
        }
    }

    /// Its limit.
    pub fn limit(&self) -> u64 {
        let limit = match self.when {
            When::Failing => self.times.map(u64::from),
            When::Silent => self.days.map(u64::from),
            When::Deletions => self.percent.map(u64::from),
            When::Disk => self.gigabytes,
            When::Queue => self.minutes.map(u64::from),
        };
        limit.unwrap_or_default()
    }

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
