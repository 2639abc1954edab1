//! Repositories are asked, added, corrected and removed.

use axum::extract::State;
use axum::http::StatusCode;
use catalog::RepositoryCounts;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::parts::FormatJson;
use super::{IdentityJson, RepositoryJson};
use crate::api::Reply;
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::repositories::{self, ask, keep, overview};
use crate::state::ConsoleState;
use crate::who::Operator;

/// Where a repository answers.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Address {
    #[schema(example = "https://repository.example/oai")]
    base_url: String,
}

/// What a repository answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PreviewJson {
    base_url: String,
    #[serde(flatten)]
    identity: IdentityJson,
    /// Not there if it cannot tell.
    formats: Option<Vec<FormatJson>>,
    /// How many sets it has; not there if it cannot tell in time.
    sets: Option<u64>,
    /// Its number, if it is known already.
    known: Option<i64>,
}

/// What is done with files.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemovalParameters {
    /// Whether its files are removed too.
    files: Option<bool>,
}

/// What was removed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RemovedJson {
    records: u64,
    deleted: u64,
    sets: u64,
    harvests: u64,
    /// How many files; not there if they stay.
    files: Option<u64>,
    /// Where the files lie, or lay.
    directory: String,
}

/// Asks a repository about itself; nothing is kept
#[utoipa::path(post, path = "/api/v1/repositories/identify", tag = "repositories", operation_id = "identify",
    request_body = Address, responses((status = 200, body = PreviewJson)))]
pub(crate) async fn identify(
    Operator(_who): Operator,
    State(state): State<ConsoleState>,
    Json(address): Json<Address>,
) -> Reply<PreviewJson> {
    let description = ask(&state, &address.base_url).await?;
    let known = state.catalog().repository_at(description.base_url());
    let formats = description.formats();
    Ok(axum::Json(PreviewJson {
        base_url: description.base_url().to_owned(),
        identity: description.identity().clone().into(),
        formats: formats.map(|formats| formats.iter().cloned().map(Into::into).collect()),
        sets: description.sets().map(|sets| sets.len() as u64),
        known: known.await?.map(|known| known.id),
    }))
}

/// Asks a repository about itself and adds it, or brings up to date what is known of it
#[utoipa::path(post, path = "/api/v1/repositories", tag = "repositories", operation_id = "add_repository",
    request_body = Address, responses((status = 201, body = RepositoryJson), (status = 200, body = RepositoryJson)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(address): Json<Address>,
) -> Result<(StatusCode, axum::Json<RepositoryJson>), Problem> {
    let description = ask(&state, &address.base_url).await?;
    let known = state
        .catalog()
        .repository_at(description.base_url())
        .await?;
    let repository = keep(&state, &who, description).await?;
    let status = match known {
        Some(_) => StatusCode::OK,
        None => StatusCode::CREATED,
    };
    let overview = overview(&state, repository.id).await?;
    Ok((status, axum::Json(overview.into())))
}

/// Asks a known repository again, and keeps what it says
#[utoipa::path(post, path = "/api/v1/repositories/{id}/identify", tag = "repositories", operation_id = "identify_again",
    params(("id" = i64, Path)), responses((status = 200, body = RepositoryJson)))]
pub(crate) async fn identify_again(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<RepositoryJson> {
    let repository = repositories::repository(&state, id).await?;
    let description = ask(&state, &repository.base_url).await?;
    keep(&state, &who, description).await?;
    Ok(axum::Json(overview(&state, id).await?.into()))
}

/// Corrects where a repository answers; it is asked there first
#[utoipa::path(put, path = "/api/v1/repositories/{id}", tag = "repositories", operation_id = "change_repository",
    params(("id" = i64, Path)), request_body = Address, responses((status = 200, body = RepositoryJson)))]
pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(address): Json<Address>,
) -> Reply<RepositoryJson> {
    repositories::repository(&state, id).await?;
    let description = ask(&state, &address.base_url).await?;
    repositories::change_base_url(&state, &who, id, description).await?;
    Ok(axum::Json(overview(&state, id).await?.into()))
}

/// Removes a repository with its records, history and schedules
#[utoipa::path(delete, path = "/api/v1/repositories/{id}", tag = "repositories", operation_id = "remove_repository",
    params(("id" = i64, Path), RemovalParameters), responses((status = 200, body = RemovedJson)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<RemovalParameters>,
) -> Reply<RemovedJson> {
    let files = parameters.files.unwrap_or(false);
    let (_, removed) = repositories::remove(&state, &who, id, files).await?;
    let RepositoryCounts {
        records,
        deleted,
        sets,
        harvests,
        ..
    } = removed.counts;
    Ok(axum::Json(RemovedJson {
        records,
        deleted,
        sets,
        harvests,
        files: removed.files,
        directory: removed.directory.display().to_string(),
    }))
}
