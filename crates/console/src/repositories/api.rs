//! `/api/v1/repositories`: the repositories that are harvested, and their quiet times.

use std::time::Duration;

use axum::Json as Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use catalog::JobEnd;
use harvester::check::CheckLimits;
use operations::Refusal;
use operations::repositories::quiet::{self, HeldQuiet, NewQuiet, Quiet, QuietState, RenewedQuiet};
use operations::repositories::{
    self, Format, MovedRecords, Preview, RecordsOrder, RemovedRepository, Repository,
    RepositoryCheck, RepositoryQuery, Set, SetQuery, Tag, TagChange,
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{ask, question::question};
use crate::api::{Listed, Reply, limited, nothing};
use crate::extract::{Json, Path, Query};
use crate::problem::Problem;
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// The base URL of a repository.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Address {
    #[schema(example = "https://repository.example/oai")]
    base_url: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemovalParameters {
    /// Whether its files are removed too.
    files: Option<bool>,
}

/// Repositories
#[utoipa::path(get, path = "/api/v1/repositories", tag = "repositories", operation_id = "list_repositories",
    params(RepositoryQuery), responses((status = 200, body = Listed<Repository>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(query): Query<RepositoryQuery>,
) -> Reply<Listed<Repository>> {
    let limit = Some(limited(query.limit));
    let query = RepositoryQuery { limit, ..query };
    Ok(Body(repositories::list(state.context(), &query).await?))
}

/// A repository
#[utoipa::path(get, path = "/api/v1/repositories/{id}", tag = "repositories", operation_id = "show_repository",
    params(("id" = i64, Path)), responses((status = 200, body = Repository)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Repository> {
    Ok(Body(repositories::show(state.context(), id).await?))
}

/// Asks a repository about itself; nothing is kept
#[utoipa::path(post, path = "/api/v1/repositories/identify", tag = "repositories", operation_id = "identify",
    request_body = Address, responses((status = 200, body = Preview)))]
pub(crate) async fn identify(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(address): Json<Address>,
) -> Reply<Preview> {
    let description = ask(&state, &address.base_url).await?;
    let preview = repositories::preview(state.context(), &who.actor(), &description).await?;
    Ok(Body(preview))
}

/// Checks whether a repository keeps the rules of OAI-PMH; nothing is kept
#[utoipa::path(post, path = "/api/v1/repositories/check", tag = "repositories", operation_id = "check_repository",
    request_body = Address, responses((status = 200, body = RepositoryCheck)))]
pub(crate) async fn check(
    Operator(_who): Operator,
    State(state): State<ConsoleState>,
    Json(address): Json<Address>,
) -> Reply<RepositoryCheck> {
    let checked = question(&state, move |client| {
        let limits = CheckLimits {
            interval: Duration::from_millis(100),
            ..CheckLimits::default()
        };
        Ok(repositories::check(client, &address.base_url, &limits)?)
    });
    let checked = checked.await?;
    Ok(Body(
        checked.map_err(|error| Refusal::from(error).at("base_url"))?,
    ))
}

/// Asks a repository about itself and adds it, or refreshes one that is known
#[utoipa::path(post, path = "/api/v1/repositories", tag = "repositories", operation_id = "add_repository",
    request_body = Address, responses((status = 201, body = Repository), (status = 200, body = Repository)))]
pub(crate) async fn add(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Json(address): Json<Address>,
) -> Result<(StatusCode, Body<Repository>), Problem> {
    let description = ask(&state, &address.base_url).await?;
    let added = repositories::add(state.context(), &who.actor(), description, None).await?;
    let status = match added.is_new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok((status, Body(added.repository)))
}

/// Refreshes a repository: asks it about itself again, and keeps its answers
#[utoipa::path(post, path = "/api/v1/repositories/{id}/identify", tag = "repositories", operation_id = "identify_again",
    params(("id" = i64, Path)), responses((status = 200, body = Repository)))]
pub(crate) async fn refresh(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Repository> {
    let context = state.context();
    let known = repositories::show(context, id).await?;
    let description = ask(&state, &known.base_url).await?;
    repositories::add(context, &who.actor(), description, None).await?;
    Ok(Body(repositories::show(context, id).await?))
}

/// Corrects the base URL of a repository, which is asked there first
#[utoipa::path(put, path = "/api/v1/repositories/{id}", tag = "repositories", operation_id = "change_repository",
    params(("id" = i64, Path)), request_body = Address, responses((status = 200, body = Repository)))]
pub(crate) async fn change(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(address): Json<Address>,
) -> Reply<Repository> {
    let context = state.context();
    repositories::show(context, id).await?;
    let description = ask(&state, &address.base_url).await?;
    let changed = repositories::change_base_url(context, &who.actor(), id, description).await?;
    Ok(Body(changed))
}

/// Tags of repositories
#[utoipa::path(get, path = "/api/v1/tags", tag = "repositories", operation_id = "list_tags",
    responses((status = 200, body = Listed<Tag>)))]
pub(crate) async fn list_tags(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Listed<Tag>> {
    Ok(Body(Listed::all(
        repositories::tags(state.context()).await?,
    )))
}

/// Adds tags to a repository and removes others
#[utoipa::path(patch, path = "/api/v1/repositories/{id}/tags", tag = "repositories", operation_id = "change_tags",
    params(("id" = i64, Path)), request_body = TagChange, responses((status = 200, body = Repository)))]
pub(crate) async fn change_tags(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(change): Json<TagChange>,
) -> Reply<Repository> {
    let context = state.context();
    Ok(Body(
        repositories::change_tags(context, &who.actor(), id, &change).await?,
    ))
}

/// Removes a repository with its records, history and schedules
#[utoipa::path(delete, path = "/api/v1/repositories/{id}", tag = "repositories", operation_id = "remove_repository",
    params(("id" = i64, Path), RemovalParameters), responses((status = 200, body = RemovedRepository)))]
pub(crate) async fn remove(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<RemovalParameters>,
) -> Reply<RemovedRepository> {
    let files = parameters.files.unwrap_or(false);
    let removed = repositories::remove(state.context(), &who.actor(), id, files).await?;
    Ok(Body(removed))
}

/// Moves the records of a repository to files, packs or the database, or compacts its packs
///
/// The answer comes when all are moved, which takes minutes for millions of records. If the connection is lost, the move goes on,
/// and the same request resumes one that was interrupted.
#[utoipa::path(post, path = "/api/v1/repositories/{id}/records/move", tag = "repositories", operation_id = "move_records",
    params(("id" = i64, Path)), request_body = RecordsOrder, responses((status = 200, body = MovedRecords)))]
pub(crate) async fn move_records(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(order): Json<RecordsOrder>,
) -> Reply<MovedRecords> {
    let moved = repositories::move_records(state.context(), &who.actor(), id, &order).await?;
    Ok(Body(moved))
}

/// The metadata formats that a repository offers, and those that records are held in
#[utoipa::path(get, path = "/api/v1/repositories/{id}/formats", tag = "repositories", operation_id = "list_formats",
    params(("id" = i64, Path)), responses((status = 200, body = Listed<Format>)))]
pub(crate) async fn formats(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Listed<Format>> {
    let formats = repositories::formats(state.context(), id).await?;
    Ok(Body(Listed::all(formats)))
}

/// The sets of a repository; `total` counts all of them, whatever is asked for
#[utoipa::path(get, path = "/api/v1/repositories/{id}/sets", tag = "repositories", operation_id = "list_sets",
    params(("id" = i64, Path), SetQuery), responses((status = 200, body = Listed<Set>)))]
pub(crate) async fn sets(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(query): Query<SetQuery>,
) -> Reply<Listed<Set>> {
    let limit = Some(limited(query.limit));
    let query = SetQuery { limit, ..query };
    Ok(Body(repositories::sets(state.context(), id, &query).await?))
}

/// Whether a repository is quiet or being harvested
#[utoipa::path(get, path = "/api/v1/repositories/{id}/quiet", tag = "repositories", operation_id = "show_quiet",
    params(("id" = i64, Path)), responses((status = 200, body = QuietState)))]
pub(crate) async fn show_quiet(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<QuietState> {
    Ok(Body(quiet::show(state.context(), id).await?))
}

/// Keeps harvests of a repository away; refused while one runs
#[utoipa::path(post, path = "/api/v1/repositories/{id}/quiet", tag = "repositories", operation_id = "begin_quiet",
    params(("id" = i64, Path)), request_body = NewQuiet, responses((status = 201, body = Quiet)))]
pub(crate) async fn begin_quiet(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(new): Json<NewQuiet>,
) -> Result<(StatusCode, Body<Quiet>), Problem> {
    let begun = quiet::begin(state.context(), &who.actor(), id, &new).await?;
    Ok((StatusCode::CREATED, Body(begun)))
}

/// Makes a quiet time longer
#[utoipa::path(put, path = "/api/v1/repositories/{id}/quiet", tag = "repositories", operation_id = "renew_quiet",
    params(("id" = i64, Path)), request_body = RenewedQuiet, responses((status = 200, body = Quiet)))]
pub(crate) async fn renew_quiet(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Json(renewed): Json<RenewedQuiet>,
) -> Reply<Quiet> {
    let renewed = quiet::renew(state.context(), &who.actor(), id, &renewed).await?;
    Ok(Body(renewed))
}

/// Ends a quiet time
#[utoipa::path(delete, path = "/api/v1/repositories/{id}/quiet", tag = "repositories", operation_id = "end_quiet",
    params(("id" = i64, Path), HeldQuiet), responses((status = 204)))]
pub(crate) async fn end_quiet(
    Operator(who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(held): Query<HeldQuiet>,
) -> Result<Response, Problem> {
    let end = JobEnd::Finished;
    quiet::end(state.context(), &who.actor(), id, held, &end).await?;
    Ok(nothing())
}
