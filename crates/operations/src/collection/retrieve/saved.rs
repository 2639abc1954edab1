//! Retrievals that are kept under a name, to be run again.

use catalog::{Role, SavedKind};
use serde::Serialize;
use utoipa::ToSchema;

use super::RetrievalOrder;
use crate::{Actor, Context, Listed, Refusal, Time};

/// A retrieval that is kept under a name.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SavedRetrieval {
    /// Its name.
    pub name: String,
    /// The order that is saved.
    pub order: RetrievalOrder,
    /// When it was saved.
    pub changed: Time,
    /// The account that saved it.
    pub changed_by: Option<String>,
}

/// Lists the saved retrievals by name.
pub async fn saved_all(context: &Context) -> Result<Listed<SavedRetrieval>, Refusal> {
    let rows = context.catalog().saved(SavedKind::Retrieval).await?;
    let saved: Result<Vec<_>, _> = rows.into_iter().map(read).collect();
    Ok(Listed::all(saved?))
}

/// The one of a name.
pub async fn saved(context: &Context, name: &str) -> Result<SavedRetrieval, Refusal> {
    let row = context
        .catalog()
        .saved_as(SavedKind::Retrieval, name.trim())
        .await?;
    read(row.ok_or_else(|| unknown(name))?)
}

/// Keeps a retrieval under a name, instead of another of that name.
pub async fn save(
    context: &Context,
    actor: &Actor,
    name: &str,
    order: &RetrievalOrder,
) -> Result<SavedRetrieval, Refusal> {
    actor.require(Role::Operator)?;
    let name = crate::saved_name(name)?;
    order.selection.resolve(context).await?;
    let content = serde_json::to_string(order).map_err(anyhow::Error::from)?;
    let catalog = context.catalog();
    let by = Some(actor.name.as_str());
    let row = catalog
        .save(SavedKind::Retrieval, &name, &content, by)
        .await?;
    let subject = format!("retrieval `{name}`");
    context
        .audit(actor, "retrieval.save", subject, Some(content))
        .await;
    read(row)
}

/// Forgets a retrieval.
pub async fn remove_saved(context: &Context, actor: &Actor, name: &str) -> Result<(), Refusal> {
    actor.require(Role::Operator)?;
    let name = name.trim();
    match context
        .catalog()
        .remove_saved(SavedKind::Retrieval, name)
        .await?
    {
        true => {}
        false => return Err(unknown(name)),
    }
    let subject = format!("retrieval `{name}`");
    context
        .audit(actor, "retrieval.remove", subject, None)
        .await;
    Ok(())
}

fn read(row: catalog::Saved) -> Result<SavedRetrieval, Refusal> {
    Ok(SavedRetrieval {
        order: RetrievalOrder::parse(&row.content)?,
        name: row.name,
        changed: Time(row.changed),
        changed_by: row.changed_by,
    })
}

fn unknown(name: &str) -> Refusal {
    Refusal::not_found(format!(
        "no retrieval is saved as `{name}`; garner retrieve --list shows those that are"
    ))
}
