//! `/api/v1/alert-rules` and `/api/v1/webhooks`.

use axum::Json as Body;
use axum::extract::State;
use axum::response::Response;
use operations::alerts::{self, AlertRule, ManagedRule};
use operations::hooks::{self, ManagedHook, Webhook};

use crate::api::{Listed, Reply, nothing};
use crate::extract::{Json, Path};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Admin, Viewer};

/// Rules of alerts, of the configuration file and of the catalog
#[utoipa::path(get, path = "/api/v1/alert-rules", tag = "alerts", operation_id = "alert_rules",
    responses((status = 200, body = Listed<ManagedRule>)))]
pub(crate) async fn rules(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Listed<ManagedRule>> {
    let rules = alerts::rules(state.context()).await?;
    Ok(Body(Listed::all(rules)))
}

/// Keeps a rule of alerts, instead of the one with its name
#[utoipa::path(put, path = "/api/v1/alert-rules", tag = "alerts", operation_id = "save_alert_rule",
    request_body = AlertRule, responses((status = 200, body = ManagedRule)))]
pub(crate) async fn save_rule(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Json(rule): Json<AlertRule>,
) -> Reply<ManagedRule> {
    let saved = alerts::save_rule(state.context(), &who.actor(), rule).await?;
    Ok(Body(saved))
}

/// Removes a rule of alerts
#[utoipa::path(delete, path = "/api/v1/alert-rules/{name}", tag = "alerts", operation_id = "remove_alert_rule",
    params(("name" = String, Path)), responses((status = 204)))]
pub(crate) async fn remove_rule(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    alerts::remove_rule(state.context(), &who.actor(), &name).await?;
    Ok(nothing())
}

/// Web servers that are told of harvests; those of the configuration file are not among them
#[utoipa::path(get, path = "/api/v1/webhooks", tag = "alerts", operation_id = "webhooks",
    responses((status = 200, body = Listed<ManagedHook>)))]
pub(crate) async fn webhooks(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Listed<ManagedHook>> {
    Ok(Body(Listed::all(hooks::list(state.context()).await?)))
}

/// Keeps a webhook, instead of the one with its name
#[utoipa::path(put, path = "/api/v1/webhooks", tag = "alerts", operation_id = "save_webhook",
    request_body = Webhook, responses((status = 200, body = ManagedHook)))]
pub(crate) async fn save_webhook(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Json(hook): Json<Webhook>,
) -> Reply<ManagedHook> {
    Ok(Body(
        hooks::save(state.context(), &who.actor(), hook).await?,
    ))
}

/// Removes a webhook
#[utoipa::path(delete, path = "/api/v1/webhooks/{name}", tag = "alerts", operation_id = "remove_webhook",
    params(("name" = String, Path)), responses((status = 204)))]
pub(crate) async fn remove_webhook(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    hooks::remove(state.context(), &who.actor(), &name).await?;
    Ok(nothing())
}
