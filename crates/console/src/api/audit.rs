//! `/api/v1/audit`: who changed what.

use axum::extract::State;
use catalog::{AuditQuery, AuditRow};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Listed, Reply, Time, limited};
use crate::extract::Query;
use crate::state::ConsoleState;
use crate::who::Admin;

/// Which entries are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Parameters {
    /// Those of one account, by its name.
    account: Option<String>,
    /// Those with a smaller number, for the next page.
    before: Option<i64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// A change that somebody made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditJson {
    id: i64,
    at: Time,
    /// The name of the account; it stays when the account is gone.
    account: String,
    /// What was done, such as `schedule.change`.
    action: String,
    /// To what, such as `schedule 7`.
    subject: String,
    details: Option<String>,
}

/// The audit trail, the newest first
#[utoipa::path(get, path = "/api/v1/audit", tag = "people", operation_id = "list_audit",
    params(Parameters), responses((status = 200, body = Listed<AuditJson>)))]
pub(crate) async fn list(
    Admin(_who): Admin,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Reply<Listed<AuditJson>> {
    let limit = limited(parameters.limit);
    let query = AuditQuery {
        account: parameters.account,
        before: parameters.before,
        limit: limit + 1,
    };
    let rows = state.catalog().audit_trail(&query).await?;
    Ok(axum::Json(Listed::page(rows, limit, |row| row.id)))
}

impl From<AuditRow> for AuditJson {
    fn from(row: AuditRow) -> Self {
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
