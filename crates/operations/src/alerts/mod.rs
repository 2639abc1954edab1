//! Alerts: rules that say what somebody has to be told of, and what they find now.

pub mod hooks;
pub mod mail;
mod rule;
mod saved;

use std::collections::BTreeMap;

use catalog::SavedKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::rule::{AlertRule, When};
pub use self::saved::{ManagedRule, effective, remove_rule, rules, save_rule};
use crate::harvests::{self, HarvestFilter, HarvestState};
use crate::overview::{self, Overview};
use crate::repositories::{self, Repository, RepositoryQuery};
use crate::{Context, Refusal, Time};

/// The findings of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Alert {
    /// The name of the rule.
    pub rule: String,
    /// The base URL of the repository; `disk` or `queue` for the others.
    pub subject: String,
    /// A sentence for people.
    pub text: String,
    /// The number of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<i64>,
}

/// The state of a rule between two evaluations, kept in the catalog: several managers may evaluate it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleState {
    /// The findings by subject.
    pub firing: BTreeMap<String, Firing>,
    /// When the last message was sent, in seconds since 1970.
    pub told: i64,
}

/// Something that a rule finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firing {
    /// A sentence for people.
    pub text: String,
    /// The number of the repository.
    pub repository: Option<i64>,
    /// When it was found first.
    pub since: i64,
    /// Whether somebody was told.
    pub is_told: bool,
}

/// The findings of all rules at their last evaluation, the latest first.
pub async fn firing(context: &Context) -> Result<Vec<FiringAlert>, Refusal> {
    let mut alerts = Vec::new();
    for saved in context.catalog().saved(SavedKind::Alert).await? {
        let state: RuleState = serde_json::from_str(&saved.content).unwrap_or_default();
        alerts.extend(
            state
                .firing
                .into_iter()
                .map(|(subject, firing)| FiringAlert {
                    rule: saved.name.clone(),
                    subject,
                    text: firing.text,
                    repository: firing.repository,
                    since: Time(firing.since),
                    is_told: firing.is_told,
                }),
        );
    }
    alerts.sort_by(|one, other| other.since.cmp(&one.since).then(one.rule.cmp(&other.rule)));
    Ok(alerts)
}

/// An alert that holds now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FiringAlert {
    /// The name of the rule.
    pub rule: String,
    /// The base URL of the repository; `disk` or `queue` for the others.
    pub subject: String,
    /// A sentence for people.
    pub text: String,
    /// The number of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<i64>,
    /// When it was found first.
    pub since: Time,
    /// Whether a message about it was sent.
    pub is_told: bool,
}

/// Everything that rules find now, in the order of the rules.
pub async fn current(context: &Context, rules: &[AlertRule]) -> Result<Vec<Alert>, Refusal> {
    let mut alerts = Vec::new();
    if rules.is_empty() {
        return Ok(alerts);
    }
    let (mut known, mut figures) = (None, None);
    let now = context.catalog().now().await?;
    for rule in rules {
        match rule.when {
            When::Disk | When::Queue => {
                if figures.is_none() {
                    figures = Some(overview::show(context).await?);
                }
                alerts.extend(
                    figures
                        .as_ref()
                        .and_then(|figures| of_machine(rule, figures)),
                );
            }
            When::Failing | When::Silent | When::Deletions => {
                if known.is_none() {
                    let query = RepositoryQuery::default();
                    known = Some(repositories::list(context, &query).await?.items);
                }
                for repository in known.iter().flatten().filter(|known| rule.is_about(known)) {
                    alerts.extend(of_repository(context, rule, repository, now).await?);
                }
            }
        }
    }
    Ok(alerts)
}

fn of_machine(rule: &AlertRule, figures: &Overview) -> Option<Alert> {
    let (subject, text) = match rule.when {
        When::Disk => {
            let free = figures.disk?.free;
            let least = rule.gigabytes?.saturating_mul(GIGABYTE);
            let free_text = format!(
                "{}.{} GB",
                free / GIGABYTE,
                free % GIGABYTE / (GIGABYTE / 10)
            );
            (free < least).then(|| {
                (
                    "disk",
                    format!("the disk of the data directory has {free_text} left"),
                )
            })?
        }
        _ => {
            let minutes = figures.queue.age_seconds / 60;
            let queued = figures.queue.queued;
            (minutes >= i64::from(rule.minutes?)).then(|| {
                let text = format!(
                    "{queued} jobs are queued; the first has been due for {minutes} minutes"
                );
                ("queue", text)
            })?
        }
    };
    Some(Alert {
        rule: rule.name.clone(),
        subject: subject.to_owned(),
        text,
        repository: None,
    })
}

async fn of_repository(
    context: &Context,
    rule: &AlertRule,
    repository: &Repository,
    now: i64,
) -> Result<Option<Alert>, Refusal> {
    let found = match rule.when {
        When::Failing => failing(context, rule, repository).await?,
        When::Silent => silent(context, rule, repository, now).await?,
        _ => deletions(context, rule, repository).await?,
    };
    Ok(found.map(|found| Alert {
        rule: rule.name.clone(),
        subject: repository.base_url.clone(),
        text: format!("{}: {found}", repository.title()),
        repository: Some(repository.id),
    }))
}

async fn failing(
    context: &Context,
    rule: &AlertRule,
    repository: &Repository,
) -> Result<Option<String>, Refusal> {
    let times = u64::from(rule.times.unwrap_or(1).max(1));
    if repository.health != "failing" {
        return Ok(None);
    }
    let filter = HarvestFilter {
        repository: Some(repository.id),
        limit: Some(times),
        ..HarvestFilter::default()
    };
    let last = harvests::list(context, &filter).await?.items;
    let all = last
        .iter()
        .all(|harvest| harvest.state == HarvestState::Failed);
    if !all || (last.len() as u64) < times {
        return Ok(None);
    }
    let reason = last
        .first()
        .and_then(|harvest| harvest.failure_reason.clone());
    Ok(Some(format!(
        "the last {times} harvests failed: {}",
        reason.unwrap_or_default()
    )))
}

async fn silent(
    context: &Context,
    rule: &AlertRule,
    repository: &Repository,
    now: i64,
) -> Result<Option<String>, Refusal> {
    // A repository that nobody harvests is not expected to say anything.
    if repository.last_harvest.is_none() && repository.next_run.is_none() {
        return Ok(None);
    }
    let days = i64::from(rule.days.unwrap_or(1).max(1));
    let filter = HarvestFilter {
        repository: Some(repository.id),
        since: Some(Time(now - days * DAY)),
        limit: Some(MOST_LOOKED_AT),
        ..HarvestFilter::default()
    };
    let brought = |harvest: &harvests::Harvest| {
        let counts = &harvest.counts;
        counts.new + counts.updated + counts.deleted > 0
    };
    let recent = harvests::list(context, &filter).await?.items;
    let is_young = repository.added.0 > now - days * DAY;
    let is_silent = !is_young && !recent.iter().any(brought);
    Ok(is_silent.then(|| format!("no harvest of the last {days} days brought anything")))
}

async fn deletions(
    context: &Context,
    rule: &AlertRule,
    repository: &Repository,
) -> Result<Option<String>, Refusal> {
    let filter = HarvestFilter {
        repository: Some(repository.id),
        limit: Some(1),
        ..HarvestFilter::default()
    };
    let last = harvests::list(context, &filter).await?.items;
    let Some(harvest) = last.first() else {
        return Ok(None);
    };
    let deleted = harvest.counts.deleted;
    let before = repository.records + deleted;
    let percent = (deleted * 100).checked_div(before).unwrap_or(0);
    let is_much = deleted > 0 && percent > u64::from(rule.percent.unwrap_or(100));
    Ok(is_much.then(|| {
        format!(
            "harvest {} deleted {deleted} of {before} records ({percent} %)",
            harvest.id
        )
    }))
}

const GIGABYTE: u64 = 1_000_000_000;
const DAY: i64 = 86_400;
/// The most harvests of one repository that are looked at.
const MOST_LOOKED_AT: u64 = 200;
