//! `/api/v1/sites`.

use axum::Json as Body;
use axum::extract::State;
use operations::repositories::RepositoryCheck;
use operations::sites::{self, Explanation, HiddenFiles, Site, SiteClients, SiteReport};
use serde::Deserialize;
use utoipa::IntoParams;

use super::checked;
use crate::api::{Listed, Reply};
use crate::extract::{Path, Query};
use crate::state::ConsoleState;
use crate::who::{Operator, Viewer};

/// A URL to explain.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Target {
    /// A URL of the site, or its path.
    #[param(example = "/index.html")]
    #[serde(default)]
    url: String,
}

/// Sites that this process exposes
#[utoipa::path(get, path = "/api/v1/sites", tag = "sites", operation_id = "sites",
    responses((status = 200, body = Listed<Site>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
) -> Reply<Listed<Site>> {
    Ok(Body(Listed::all(sites::list(state.context()).await?)))
}

/// A site with its items, changes and requests
#[utoipa::path(get, path = "/api/v1/sites/{id}", tag = "sites", operation_id = "site",
    params(("id" = u64, Path)), responses((status = 200, body = SiteReport)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<u64>,
) -> Reply<SiteReport> {
    Ok(Body(sites::show(state.context(), id).await?))
}

/// The clients of a site, and the requests that failed
#[utoipa::path(get, path = "/api/v1/sites/{id}/clients", tag = "sites", operation_id = "site_clients",
    params(("id" = u64, Path)), responses((status = 200, body = SiteClients)))]
pub(crate) async fn clients(
    Operator(_who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<u64>,
) -> Reply<SiteClients> {
    Ok(Body(sites::clients(state.context(), id).await?))
}

/// The files of a site that are not offered, by reason
#[utoipa::path(get, path = "/api/v1/sites/{id}/hidden", tag = "sites", operation_id = "site_hidden",
    params(("id" = u64, Path)), responses((status = 200, body = HiddenFiles)))]
pub(crate) async fn hidden(
    Operator(_who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<u64>,
) -> Reply<HiddenFiles> {
    Ok(Body(sites::hidden(state.context(), id).await?))
}

/// Why a URL of a site is offered, or why not
#[utoipa::path(get, path = "/api/v1/sites/{id}/explain", tag = "sites", operation_id = "site_explain",
    params(("id" = u64, Path), Target), responses((status = 200, body = Explanation)))]
pub(crate) async fn explain(
    Operator(_who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<u64>,
    Query(target): Query<Target>,
) -> Reply<Explanation> {
    Ok(Body(
        sites::explain(state.context(), id, &target.url).await?,
    ))
}

/// Checks whether the repository of a site keeps the rules of OAI-PMH
#[utoipa::path(post, path = "/api/v1/sites/{id}/check", tag = "sites", operation_id = "check_site",
    params(("id" = u64, Path)), responses((status = 200, body = RepositoryCheck)))]
pub(crate) async fn check(
    Operator(_who): Operator,
    State(state): State<ConsoleState>,
    Path(id): Path<u64>,
) -> Reply<RepositoryCheck> {
    Ok(Body(checked(&state, id).await?))
}
