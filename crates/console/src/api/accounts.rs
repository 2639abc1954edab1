//! `/api/v1/accounts`: who may log in, and as what.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use catalog::{Account, Role};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Listed, Reply, Time, nothing};
use crate::extract::{Json, Path};
use crate::parts::Errors;
use crate::people;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Admin;

/// What somebody may do; each may do what those before it may.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RoleName {
    /// Sees everything, changes nothing.
    Viewer,
    /// Steers repositories, schedules and jobs.
    Operator,
    /// Sees to accounts as well.
    Admin,
}

/// An account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccountJson {
    id: i64,
    name: String,
    role: RoleName,
    disabled: bool,
    created: Time,
    last_login: Option<Time>,
}

/// An account to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAccount {
    name: String,
    role: RoleName,
    /// At least 10 characters.
    password: String,
}

/// What an account may do from now on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountSettings {
    role: RoleName,
    #[serde(default)]
    disabled: bool,
}

/// A password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPassword {
    /// At least 10 characters.
    password: String,
}

/// All accounts
#[utoipa::path(get, path = "/api/v1/accounts", tag = "people", operation_id = "list_accounts",
    responses((status = 200, body = Listed<AccountJson>)))]
pub(crate) async fn list(
    Admin(_who): Admin,
    State(state): State<ConsoleState>,
) -> Reply<Listed<AccountJson>> {
    Ok(axum::Json(Listed::all(state.catalog().accounts().await?)))
}

/// An account
#[utoipa::path(get, path = "/api/v1/accounts/{id}", tag = "people", operation_id = "show_account",
    params(("id" = i64, Path)), responses((status = 200, body = AccountJson)))]
pub(crate) async fn show(
    Admin(_who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<AccountJson> {
    Ok(axum::Json(people::account(&state, id).await?.into()))
}

/// Makes an account
#[utoipa::path(post, path = "/api/v1/accounts", tag = "people", operation_id = "add_account",
    request_body = NewAccount, responses((status = 201, body = AccountJson)))]
pub(crate) async fn add(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Json(wanted): Json<NewAccount>,
) -> Result<(StatusCode, axum::Json<AccountJson>), Problem> {
    let mut errors = Errors::default();
    people::check_name(&wanted.name, &mut errors);
    people::check_password(&wanted.password, &mut errors);
    errors.into_problem()?;
    let NewAccount { name, password, .. } = &wanted;
    let account = people::add_account(&state, &who, name, password, wanted.role.into()).await?;
    Ok((StatusCode::CREATED, axum::Json(account.into())))
}

/// Changes what an account may do
#[utoipa::path(put, path = "/api/v1/accounts/{id}", tag = "people", operation_id = "change_account",
    params(("id" = i64, Path)), request_body = AccountSettings, responses((status = 200, body = AccountJson)))]
pub(crate) async fn change(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(wanted): Json<AccountSettings>,
) -> Reply<AccountJson> {
    let AccountSettings { role, disabled } = wanted;
    let account = people::change_account(&state, &who, id, role.into(), disabled).await?;
    Ok(axum::Json(account.into()))
}

/// Gives an account another password, and ends its sessions and tokens
#[utoipa::path(put, path = "/api/v1/accounts/{id}/password", tag = "people", operation_id = "set_password",
    params(("id" = i64, Path)), request_body = NewPassword, responses((status = 204)))]
pub(crate) async fn set_password(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(wanted): Json<NewPassword>,
) -> Result<Response, Problem> {
    let mut errors = Errors::default();
    people::check_password(&wanted.password, &mut errors);
    errors.into_problem()?;
    people::set_password(&state, &who, id, &wanted.password).await?;
    Ok(nothing())
}

/// Removes an account with its sessions and tokens
#[utoipa::path(delete, path = "/api/v1/accounts/{id}", tag = "people", operation_id = "remove_account",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    people::remove_account(&state, &who, id).await?;
    Ok(nothing())
}

impl From<Account> for AccountJson {
    fn from(account: Account) -> Self {
        Self {
            id: account.id,
            name: account.name,
            role: account.role.into(),
            disabled: account.disabled,
            created: Time(account.created),
            last_login: account.last_login.map(Time),
        }
    }
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Operator => Self::Operator,
            Role::Admin => Self::Admin,
        }
    }
}

impl From<RoleName> for Role {
    fn from(role: RoleName) -> Self {
        match role {
            RoleName::Viewer => Self::Viewer,
            RoleName::Operator => Self::Operator,
            RoleName::Admin => Self::Admin,
        }
    }
}
