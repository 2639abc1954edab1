//! `/api/v1/tokens`: one's own tokens.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use catalog::Token;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::accounts::RoleName;
use super::{Listed, Reply, Time, nothing};
use crate::extract::{Json, Path};
use crate::parts::Errors;
use crate::people;
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::Viewer;

/// What is known of a token; not the token itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenJson {
    id: i64,
    /// The name of its account.
    account: String,
    name: String,
    role: RoleName,
    created: Time,
    expires: Option<Time>,
    /// When it was last used, to about a minute.
    last_used: Option<Time>,
}

/// A token to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// What it is for.
    name: String,
    /// Not more than one's own.
    role: RoleName,
    /// For how long it is good; for good if there is none.
    #[schema(minimum = 1, maximum = 3650)]
    days: Option<u32>,
}

/// A token that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MadeToken {
    /// The token itself, which is not shown again.
    token: String,
    #[serde(flatten)]
    known: TokenJson,
}

/// One's own tokens
#[utoipa::path(get, path = "/api/v1/tokens", tag = "people", operation_id = "list_tokens",
    responses((status = 200, body = Listed<TokenJson>)))]
pub(crate) async fn list(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Listed<TokenJson>> {
    let tokens = state.catalog().tokens(Some(who.account.id)).await?;
    Ok(axum::Json(Listed::all(tokens)))
}

/// Makes a token; it is told here and never again. A session is needed: a token cannot make others
#[utoipa::path(post, path = "/api/v1/tokens", tag = "people", operation_id = "add_token",
    request_body = NewToken, responses((status = 201, body = MadeToken)))]
pub(crate) async fn add(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Json(wanted): Json<NewToken>,
) -> Result<(StatusCode, axum::Json<MadeToken>), Problem> {
    let mut errors = Errors::default();
    people::check_name(&wanted.name, &mut errors);
    if wanted.days.is_some_and(|days| !(1..=3650).contains(&days)) {
        errors.add("days", "give a number of days from 1 to 3650");
    }
    errors.into_problem()?;
    let NewToken { name, role, days } = &wanted;
    let (known, token) = people::add_token(&state, &who, name, (*role).into(), *days).await?;
    let known = known.into();
    Ok((StatusCode::CREATED, axum::Json(MadeToken { token, known })))
}

/// Removes a token of one's own, or as an admin anybody's. A session is needed here too
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", tag = "people", operation_id = "remove_token",
    params(("id" = i64, Path)), responses((status = 204)))]
pub(crate) async fn remove(
    Viewer(who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Result<Response, Problem> {
    people::remove_token(&state, &who, id).await?;
    Ok(nothing())
}

impl From<Token> for TokenJson {
    fn from(token: Token) -> Self {
        Self {
            id: token.id,
            account: token.account_name,
            name: token.name,
            role: token.role.into(),
            created: Time(token.created),
            expires: token.expires.map(Time),
            last_used: token.seen.map(Time),
        }
    }
}
