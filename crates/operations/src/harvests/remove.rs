//! Removal of harvests from the history; records stay.

use catalog::Role;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Harvest, HarvestState, show};
use crate::{Actor, Context, Refusal};

/// Which old entries are removed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveOld {
    /// Entries that ended more than this many days ago.
    #[schema(minimum = 0, maximum = 36500)]
    pub older_than_days: u32,
}

/// How many entries were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Removed {
    /// The number of entries.
    pub removed: u64,
}

/// Removes harvests from the history, all or none. A running one is refused, and without `force` so is one that the next
/// harvest continues from.
pub async fn remove(
    context: &Context,
    actor: &Actor,
    ids: &[i64],
    force: bool,
) -> Result<Removed, Refusal> {
    actor.require(Role::Operator)?;
    for id in ids {
        check(context, *id, force).await?;
    }
    let mut removed = Vec::new();
    for id in ids {
        if context.catalog().remove_history_entry(*id).await? {
            removed.push(id.to_string());
        }
    }
    if !removed.is_empty() {
        let subject = format!("harvest {}", removed.join(", "));
        context.audit(actor, "history.remove", subject, None).await;
    }
    Ok(Removed {
        removed: removed.len() as u64,
    })
}

/// Removes harvests that ended more than `older_than_days` ago, except the last of each repository, format and set and
/// those that the next harvest continues from.
pub async fn remove_old(
    context: &Context,
    actor: &Actor,
    older_than_days: u32,
) -> Result<Removed, Refusal> {
    actor.require(Role::Operator)?;
    let seconds = days(older_than_days)?;
    let removed = context.catalog().remove_history(seconds, true).await?;
    let subject = format!("harvests older than {older_than_days} days");
    let details = Some(format!("{removed} removed"));
    context
        .audit(actor, "history.remove", subject, details)
        .await;
    Ok(Removed { removed })
}

/// Whether the next harvest continues from this one, or resumes it.
pub async fn is_needed(context: &Context, harvest: &Harvest) -> Result<bool, Refusal> {
    let (repository, prefix) = (harvest.repository, &harvest.metadata_prefix);
    let (catalog, set) = (context.catalog(), harvest.set.as_deref());
    let last = catalog.last_finished(repository, prefix, set).await?;
    let unfinished = catalog.unfinished(repository, prefix, set).await?;
    let mut needed = last.iter().chain(&unfinished);
    Ok(needed.any(|needed| needed.id == harvest.id))
}

async fn check(context: &Context, id: i64, force: bool) -> Result<(), Refusal> {
    let harvest = show(context, id).await?;
    if harvest.state == HarvestState::Running {
        let message = format!("harvest {id} is running; cancel it first");
        return Err(Refusal::conflict(message));
    }
    if !force && is_needed(context, &harvest).await? {
        return Err(Refusal::conflict(format!(
            "the next harvest of {} continues from harvest {id}; with force it is removed, and everything is harvested again",
            harvest.base_url
        )));
    }
    Ok(())
}

/// A number of days in seconds.
pub(crate) fn days(days: u32) -> Result<i64, Refusal> {
    match days <= MAX_DAYS {
        true => Ok(i64::from(days) * 86_400),
        false => Err(Refusal::invalid(
            "older_than_days",
            format!("give a number of days from 0 to {MAX_DAYS}"),
        )),
    }
}

const MAX_DAYS: u32 = 36_500;
