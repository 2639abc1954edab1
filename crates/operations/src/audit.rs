//! The audit trail: every change, with its author.

use catalog::{AuditOrder, Role};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::sorting::named_order;
use crate::{Actor, Context, Listed, Refusal, Time};

/// A change that somebody made, or a refused attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuditEntry {
    /// Its number.
    pub id: i64,
    /// When it was made.
    pub at: Time,
    /// The name of the account, which stays when the account is removed; in parentheses for the command line.
    pub account: String,
    /// The action, such as `schedule.change`.
    pub action: String,
    /// The thing that was changed, such as `schedule 7`.
    pub subject: String,
    /// More about it.
    pub details: Option<String>,
}

/// A selection of entries.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// The name of one account.
    pub account: Option<String>,
    /// Entries with a smaller number, for the next page.
    pub before: Option<i64>,
    /// The order: `at`, `account`, `action` or `subject`. Without it the newest come first.
    pub sort: Option<String>,
    /// Whether the largest come first in that order.
    pub descending: Option<bool>,
    /// Entries that are skipped, where there is an order.
    pub offset: Option<u64>,
    /// At most this many entries; up to 1000 by the API.
    pub limit: Option<u64>,
}

/// Entries of the audit trail, the newest first; all of them without a limit.
pub async fn list(
    context: &Context,
    actor: &Actor,
    query: AuditQuery,
) -> Result<Listed<AuditEntry>, Refusal> {
    actor.require(Role::Admin)?;
    let limit = query.limit.unwrap_or(u64::MAX);
    let catalog = context.catalog();
    let query = catalog::AuditQuery {
        account: query.account.filter(|name| !name.is_empty()),
        before: query.before,
        order: named_order(query.sort.as_deref(), &AuditOrder::ALL, AuditOrder::name)?,
        descending: query.descending.unwrap_or(false),
        offset: query.offset.unwrap_or(0),
        limit: limit.saturating_add(1),
    };
    let rows = catalog.audit_trail(&query).await?;
    let mut listed = Listed::page(rows, limit, |row| row.id);
    if query.order.is_some() {
        let end = query.offset.saturating_add(listed.items.len() as u64);
        listed.next = listed.next.map(|_| end.cast_signed());
    }
    listed.total = Some(catalog.count_audit(query.account.as_deref()).await?);
    Ok(listed)
}

impl From<catalog::AuditRow> for AuditEntry {
    fn from(row: catalog::AuditRow) -> Self {
        Self {
            id: row.id,
            at: Time(row.at),
            account: row.entry.account,
            action: row.entry.action,
            subject: row.entry.subject,
            details: row.entry.details,
        }
    }
}
