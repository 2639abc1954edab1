//! `/api/v1/system`.

use axum::Json as Body;
use axum::extract::State;
use operations::system::{self, SystemReport};

use crate::api::Reply;
use crate::state::ConsoleState;
use crate::who::Admin;

/// Workers, versions, settings, disks, programs, and what is wrong, as garner doctor tells it
///
/// Findings are those that were last looked for.
#[utoipa::path(get, path = "/api/v1/system", tag = "system", operation_id = "show_system",
    responses((status = 200, body = SystemReport)))]
pub(crate) async fn show(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
) -> Reply<SystemReport> {
    Ok(Body(system::show(state.context(), &who.actor()).await?))
}

/// Looks for what is wrong now
#[utoipa::path(post, path = "/api/v1/system/check", tag = "system", operation_id = "check_system",
    responses((status = 200, body = SystemReport)))]
pub(crate) async fn check(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
) -> Reply<SystemReport> {
    Ok(Body(system::check(state.context(), &who.actor()).await?))
}
