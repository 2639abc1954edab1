//! Causes of failures that somebody has taken note of: they leave the overview until they come up again, or for a time.

use std::collections::HashMap;

use catalog::{Role, SavedKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::failures::{FailuresByCause, failures};
use crate::{Actor, Context, Refusal, Time};

/// That somebody has taken note of a cause of failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Acknowledged {
    /// When.
    pub at: Time,
    /// Who.
    pub by: Option<String>,
    /// Until when new failures for this cause do not matter either; without it the next one ends it.
    pub until: Option<Time>,
}

/// The details that are kept beside its author and time.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    until: Option<i64>,
}

/// Takes note of a cause: it leaves the overview until it comes up again or, with `mute_days`, for so many days.
pub async fn acknowledge(
    context: &Context,
    actor: &Actor,
    days: u32,
    cause: &str,
    mute_days: Option<u32>,
) -> Result<FailuresByCause, Refusal> {
    actor.require(Role::Operator)?;
    let known = failures(context, days).await?;
    if !known.groups.iter().any(|group| group.cause == cause) {
        return Err(unknown(cause));
    }
    if mute_days.is_some_and(|days| !(1..=MOST_DAYS).contains(&days)) {
        return Err(Refusal::invalid(
            "mute_days",
            format!("write a number from 1 to {MOST_DAYS}"),
        ));
    }
    let catalog = context.catalog();
    let now = catalog.now().await?;
    let until = mute_days.map(|days| now + i64::from(days) * A_DAY);
    let kept = serde_json::to_string(&Kept { until }).map_err(anyhow::Error::from)?;
    let by = Some(actor.name.as_str());
    catalog.save(SavedKind::Cause, cause, &kept, by).await?;
    let details = match mute_days {
        None => "until it comes up again".to_owned(),
        Some(1) => "for a day".to_owned(),
        Some(days) => format!("for {days} days"),
    };
    context
        .audit(actor, "failures.acknowledge", cause, Some(details))
        .await;
    forget_old(context, now, &known).await?;
    failures(context, days).await
}

/// Shows a cause on the overview again.
pub async fn unacknowledge(context: &Context, actor: &Actor, cause: &str) -> Result<(), Refusal> {
    actor.require(Role::Operator)?;
    let catalog = context.catalog();
    if catalog.remove_saved(SavedKind::Cause, cause).await? {
        context
            .audit(actor, "failures.show_again", cause, None)
            .await;
    }
    Ok(())
}

/// Adds to groups of failures that somebody has taken note of them, where that still holds.
pub(super) async fn note(context: &Context, failures: &mut FailuresByCause) -> Result<(), Refusal> {
    let catalog = context.catalog();
    let saved = catalog.saved(SavedKind::Cause).await?;
    if saved.is_empty() {
        return Ok(());
    }
    let now = catalog.now().await?;
    let mut saved: HashMap<_, _> = saved
        .into_iter()
        .map(|saved| (saved.name.clone(), saved))
        .collect();
    for group in &mut failures.groups {
        let Some(saved) = saved.remove(&group.cause) else {
            continue;
        };
        let until = until(&saved.content).filter(|until| *until > now);
        if until.is_some() || group.last.0 <= saved.changed {
            group.acknowledged = Some(Acknowledged {
                at: Time(saved.changed),
                by: saved.changed_by,
                until: until.map(Time),
            });
        }
    }
    Ok(())
}

/// Forgets causes that did not come up for long.
async fn forget_old(context: &Context, now: i64, known: &FailuresByCause) -> Result<(), Refusal> {
    let catalog = context.catalog();
    for saved in catalog.saved(SavedKind::Cause).await? {
        let is_known = known.groups.iter().any(|group| group.cause == saved.name);
        let since = until(&saved.content).map_or(saved.changed, |until| until.max(saved.changed));
        if !is_known && since < now - KEPT_DAYS * A_DAY {
            catalog.remove_saved(SavedKind::Cause, &saved.name).await?;
        }
    }
    Ok(())
}

fn until(content: &str) -> Option<i64> {
    serde_json::from_str::<Kept>(content)
        .unwrap_or_default()
        .until
}

fn unknown(cause: &str) -> Refusal {
    Refusal::not_found(format!("no recent failures have the cause `{cause}`"))
}

const A_DAY: i64 = 86_400;
const MOST_DAYS: u32 = 365;
const KEPT_DAYS: i64 = 90;
