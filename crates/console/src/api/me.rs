//! `/api/v1/me`: who one is.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::Reply;
use super::accounts::RoleName;
use crate::who::Viewer;

/// Who asks.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Me {
    /// The number of the account.
    id: i64,
    name: String,
    /// What may be done: a token may allow less than its account.
    role: RoleName,
}

/// Who asks, and what that one may do
#[utoipa::path(get, path = "/api/v1/me", tag = "people", operation_id = "me", responses((status = 200, body = Me)))]
pub(crate) async fn show(Viewer(who): Viewer) -> Reply<Me> {
    Ok(Json(Me {
        id: who.account.id,
        name: who.account.name,
        role: who.role.into(),
    }))
}
