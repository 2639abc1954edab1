//! `/api/v1/repositories`: what is harvested.

pub(crate) mod change;
pub(crate) mod parts;
pub(crate) mod quiet;

use axum::extract::State;
use catalog::{Identity, LastHarvest, RepositoryListQuery, RepositoryOverview};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Listed, Reply, Time, limited};
use crate::extract::{Path, Query};
use crate::problem::Problem;
use crate::repositories::{health_name, overview, parse_health, parse_sort};
use crate::state::ConsoleState;
use crate::who::Viewer;

/// Which repositories are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Parameters {
    /// Those with this text in their name, base URL or identifier.
    text: Option<String>,
    /// Those that fare so: `ok`, `running`, `incomplete`, `failing` or `never`.
    health: Option<String>,
    /// `name`, `base_url`, `records`, `health`, `last_harvest`, `next_run` or `added`.
    sort: Option<String>,
    /// Whether the largest come first.
    descending: Option<bool>,
    /// How many to pass over.
    offset: Option<u64>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// What a repository says of itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IdentityJson {
    name: Option<String>,
    protocol_version: Option<String>,
    admin_emails: Vec<String>,
    earliest_datestamp: Option<String>,
    deleted_record: Option<String>,
    granularity: Option<String>,
    repository_identifier: Option<String>,
}

/// A repository.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RepositoryJson {
    id: i64,
    base_url: String,
    #[serde(flatten)]
    identity: IdentityJson,
    /// Where its files lie, as seen from the data directory.
    base_directory: String,
    added: Time,
    /// When it last told about itself.
    identified: Time,
    /// Records that are not deleted, in all formats.
    records: u64,
    deleted: u64,
    /// How it fares by its last harvest: `ok`, `running`, `incomplete`, `failing` or `never`.
    health: &'static str,
    last_harvest: Option<LastHarvestJson>,
    /// How many schedules it has.
    schedules: u64,
    next_run: Option<Time>,
}

/// The last harvest of a repository.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LastHarvestJson {
    /// The number of its entry in the history.
    id: i64,
    started: Time,
    ended: Option<Time>,
    /// Why it failed, or what was left out.
    reason: Option<String>,
}

/// Repositories, searched, sorted and by how they fare
#[utoipa::path(get, path = "/api/v1/repositories", tag = "repositories", operation_id = "list_repositories",
    params(Parameters), responses((status = 200, body = Listed<RepositoryJson>)))]
pub(crate) async fn list(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Query(parameters): Query<Parameters>,
) -> Reply<Listed<RepositoryJson>> {
    let limit = limited(parameters.limit);
    let offset = parameters.offset.unwrap_or(0);
    let query = RepositoryListQuery {
        health: word("health", parameters.health.as_deref(), parse_health)?,
        sort: word("sort", parameters.sort.as_deref(), parse_sort)?.unwrap_or_default(),
        text: parameters.text.filter(|text| !text.trim().is_empty()),
        descending: parameters.descending.unwrap_or(false),
        offset,
        limit,
    };
    let (total, found) = state.catalog().repository_overview(&query).await?;
    let end = offset.saturating_add(found.len() as u64);
    let next = (end < total && !found.is_empty()).then_some(end);
    Ok(axum::Json(Listed {
        items: found.into_iter().map(Into::into).collect(),
        next: next.and_then(|next| i64::try_from(next).ok()),
        total: Some(total),
    }))
}

/// A repository
#[utoipa::path(get, path = "/api/v1/repositories/{id}", tag = "repositories", operation_id = "show_repository",
    params(("id" = i64, Path)), responses((status = 200, body = RepositoryJson)))]
pub(crate) async fn show(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<RepositoryJson> {
    Ok(axum::Json(overview(&state, id).await?.into()))
}

fn word<T>(
    parameter: &str,
    word: Option<&str>,
    parse: fn(&str) -> Option<T>,
) -> Result<Option<T>, Problem> {
    let unknown = |word| Problem::invalid(format!("{parameter}: there is no `{word}`"));
    word.map(|word| parse(word).ok_or_else(|| unknown(word)))
        .transpose()
}

impl From<Identity> for IdentityJson {
    fn from(identity: Identity) -> Self {
        Self {
            name: identity.name,
            protocol_version: identity.protocol_version,
            admin_emails: identity.admin_emails,
            earliest_datestamp: identity.earliest_datestamp,
            deleted_record: identity.deleted_record,
            granularity: identity.granularity,
            repository_identifier: identity.repository_identifier,
        }
    }
}

impl From<RepositoryOverview> for RepositoryJson {
    fn from(overview: RepositoryOverview) -> Self {
        let repository = overview.repository;
        Self {
            id: repository.id,
            base_url: repository.base_url,
            identity: repository.identity.into(),
            base_directory: repository.base_directory,
            added: Time(repository.added),
            identified: Time(repository.identified),
            records: overview.records,
            deleted: overview.deleted,
            health: health_name(overview.health),
            last_harvest: overview.last.map(Into::into),
            schedules: overview.schedules,
            next_run: overview.next_run.map(Time),
        }
    }
}

impl From<LastHarvest> for LastHarvestJson {
    fn from(last: LastHarvest) -> Self {
        Self {
            id: last.id,
            started: Time(last.started),
            ended: last.ended.map(Time),
            reason: last.reason,
        }
    }
}
