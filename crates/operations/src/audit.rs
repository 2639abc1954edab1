//! The audit trail: every change, with its author.

use catalog::Role;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

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
    let query = catalog::AuditQuery {
        account: query.account.filter(|name| !name.is_empty()),
        before: query.before,
        limit: limit.saturating_add(1),
    };
    let rows = context.catalog().audit_trail(&query).await?;
    Ok(Listed::page(rows, limit, |row| row.id))
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
