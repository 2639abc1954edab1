//! `/api/v1/accounts`, `/api/v1/tokens`, `/api/v1/me` and `/api/v1/audit`.

use axum::Json as Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use operations::Paging;
use operations::accounts::{
    self, Account, AccountSettings, MailedLink, Me, NewAccount, NewEmail, NewPassword, OwnSettings,
    PasswordLink,
};
use operations::audit::{self, AuditEntry, AuditQuery};
use operations::tokens::{self, AddedToken, NewToken, Token};

use super::account::here;
use crate::api::{Listed, Reply, limited, nothing};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Admin, Viewer};

/// All accounts
#[utoipa::path(get, path = "/api/v1/accounts", tag = "people", operation_id = "list_accounts",
    params(Paging), responses((status = 200, body = Listed<Account>)))]
pub(crate) async fn list_accounts(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Query(paging): Query<Paging>,
) -> Reply<Listed<Account>> {
    let accounts = accounts::list(state.context(), &who.actor()).await?;
    Ok(Body(paging.page(accounts, accounts::ORDERS)?))
}

/// An account
#[utoipa::path(get, path = "/api/v1/accounts/{id}", tag = "people", operation_id = "show_account",
    params(("id" = i64, Path)), responses((status = 200, body = Account)))]
pub(crate) async fn show_account(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Account> {
    let account = accounts::show(state.context(), &who.actor(), id).await?;
    Ok(Body(account))
}

/// Adds an account
#[utoipa::path(post, path = "/api/v1/accounts", tag = "people", operation_id = "add_account",
    request_body = NewAccount, responses((status = 201, body = Account)))]
pub(crate) async fn add_account(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Json(new): Json<NewAccount>,
) -> Result<(StatusCode, Body<Account>), Problem> {
    let account = accounts::add(state.context(), &who.actor(), new).await?;
    Ok((StatusCode::CREATED, Body(account)))
}

/// Changes role and state of an account
#[utoipa::path(put, path = "/api/v1/accounts/{id}", tag = "people", operation_id = "change_account",
    params(("id" = i64, Path)), request_body = AccountSettings, responses((status = 200, body = Account)))]
pub(crate) async fn change_account(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(settings): Json<AccountSettings>,
) -> Reply<Account> {
    let account = accounts::change(state.context(), &who.actor(), id, settings).await?;
    Ok(Body(account))
}

/// Sets the password of an account, and ends its sessions and tokens
#[utoipa::path(put, path = "/api/v1/accounts/{id}/password", tag = "people", operation_id = "set_password",
    params(("id" = i64, Path)), request_body = NewPassword, responses((status = 204)))]
pub(crate) async fn set_password(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(new): Json<NewPassword>,
) -> Result<Response, Problem> {
    accounts::set_password(state.context(), &who.actor(), id, new).await?;
    Ok(nothing())
}

/// Makes a link by which the owner of an account sets its password, once. A session is needed
#[utoipa::path(post, path = "/api/v1/accounts/{id}/link", tag = "people", operation_id = "make_password_link",
    params(("id" = i64, Path)), responses((status = 201, body = PasswordLink)))]
pub(crate) async fn make_link(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<(StatusCode, Body<PasswordLink>), Problem> {
    let link = accounts::make_link(state.context(), &who.actor(), id).await?;
    Ok((StatusCode::CREATED, Body(link)))
}

/// Sends the owner of an account a link that sets its password, once. A session is needed
#[utoipa::path(post, path = "/api/v1/accounts/{id}/link/mail", tag = "people", operation_id = "mail_password_link",
    params(("id" = i64, Path)), responses((status = 200, body = MailedLink)))]
pub(crate) async fn mail_link(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Reply<MailedLink> {
    let console = here(&state, &headers);
    let mailed = accounts::mail_link(state.context(), &who.actor(), id, &console).await?;
    Ok(Body(mailed))
}

/// Sets the e-mail address of an account
#[utoipa::path(put, path = "/api/v1/accounts/{id}/email", tag = "people", operation_id = "set_email",
    params(("id" = i64, Path)), request_body = NewEmail, responses((status = 200, body = Account)))]
pub(crate) async fn set_email(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(new): Json<NewEmail>,
) -> Reply<Account> {
    let account = accounts::set_email(state.context(), &who.actor(), id, &new.email).await?;
    Ok(Body(account))
}

/// Removes an account with its sessions and tokens
#[utoipa::path(delete, path = "/api/v1/accounts/{id}", tag = "people", operation_id = "remove_account",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove_account(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    accounts::remove(state.context(), &who.actor(), id).await?;
    Ok(nothing())
}

/// One's own account and role
#[utoipa::path(get, path = "/api/v1/me", tag = "people", operation_id = "me", responses((status = 200, body = Me)))]
pub(crate) async fn show_me(Viewer(who): Viewer) -> Reply<Me> {
    Ok(Body(Me::new(who.account, who.role)))
}

/// Changes the settings of one's own account
#[utoipa::path(patch, path = "/api/v1/me", tag = "people", operation_id = "change_me",
    request_body = OwnSettings, responses((status = 200, body = Account)))]
pub(crate) async fn change_me(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Json(settings): Json<OwnSettings>,
) -> Reply<Account> {
    let id = who.account.id;
    let account = accounts::change_own(state.context(), &who.actor(), id, settings).await?;
    Ok(Body(account))
}

/// One's own tokens
#[utoipa::path(get, path = "/api/v1/tokens", tag = "people", operation_id = "list_tokens",
    params(Paging), responses((status = 200, body = Listed<Token>)))]
pub(crate) async fn list_tokens(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Query(paging): Query<Paging>,
) -> Reply<Listed<Token>> {
    let tokens = tokens::list(state.context(), &who.actor()).await?;
    Ok(Body(paging.page(tokens, tokens::ORDERS)?))
}

/// Adds a token, whose secret is in this answer and in no other. A session is needed: a token cannot add others
#[utoipa::path(post, path = "/api/v1/tokens", tag = "people", operation_id = "add_token",
    request_body = NewToken, responses((status = 201, body = AddedToken)))]
pub(crate) async fn add_token(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Json(new): Json<NewToken>,
) -> Result<(StatusCode, Body<AddedToken>), Problem> {
    let added = tokens::add(state.context(), &who.actor(), new).await?;
    Ok((StatusCode::CREATED, Body(added)))
}

/// Removes a token of one's own, or as an admin anybody's. A session is needed here too
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", tag = "people", operation_id = "remove_token",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove_token(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    tokens::remove(state.context(), &who.actor(), id).await?;
    Ok(nothing())
}

/// The audit trail, the newest first
#[utoipa::path(get, path = "/api/v1/audit", tag = "people", operation_id = "list_audit",
    params(AuditQuery), responses((status = 200, body = Listed<AuditEntry>)))]
pub(crate) async fn list_audit(
    Admin(who): Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<AuditQuery>,
) -> Reply<Listed<AuditEntry>> {
    let limit = Some(limited(query.limit));
    let query = AuditQuery { limit, ..query };
    let entries = audit::list(state.context(), &who.actor(), query).await?;
    Ok(Body(entries))
}
