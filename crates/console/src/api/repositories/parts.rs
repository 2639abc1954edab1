//! What a repository has: formats and sets.

use axum::extract::State;
use catalog::{MetadataFormat, Set};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::{Listed, Reply, limited};
use crate::extract::{Path, Query};
use crate::repositories::repository;
use crate::state::ConsoleState;
use crate::who::Viewer;

/// A metadata format.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FormatJson {
    metadata_prefix: String,
    schema: String,
    namespace: String,
}

/// A set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SetJson {
    set_spec: String,
    name: Option<String>,
    /// Whether the repository lists it; the others are named by records alone.
    listed: bool,
}

/// Which sets are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SetParameters {
    /// Those with this text in their `setSpec` or name.
    text: Option<String>,
    /// How many at most, up to 1000.
    limit: Option<u64>,
}

/// The formats that a repository offers
#[utoipa::path(get, path = "/api/v1/repositories/{id}/formats", tag = "repositories", operation_id = "list_formats",
    params(("id" = i64, Path)), responses((status = 200, body = Listed<FormatJson>)))]
pub(crate) async fn formats(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
) -> Reply<Listed<FormatJson>> {
    repository(&state, id).await?;
    Ok(axum::Json(Listed::all(state.catalog().formats(id).await?)))
}

/// The sets of a repository; `total` is how many it has in all, whatever was asked for
#[utoipa::path(get, path = "/api/v1/repositories/{id}/sets", tag = "repositories", operation_id = "list_sets",
    params(("id" = i64, Path), SetParameters), responses((status = 200, body = Listed<SetJson>)))]
pub(crate) async fn sets(
    Viewer(_who): Viewer,
    State(state): State<ConsoleState>,
    Path(id): Path<i64>,
    Query(parameters): Query<SetParameters>,
) -> Reply<Listed<SetJson>> {
    let counts = state.catalog().repository_counts(id).await?;
    let limit = limited(parameters.limit);
    let text = parameters.text.as_deref();
    let sets = state.catalog().some_sets(id, text, limit).await?;
    Ok(axum::Json(Listed {
        items: sets.into_iter().map(Into::into).collect(),
        next: None,
        total: Some(counts.sets),
    }))
}

impl From<MetadataFormat> for FormatJson {
    fn from(format: MetadataFormat) -> Self {
        Self {
            metadata_prefix: format.metadata_prefix,
            schema: format.schema,
            namespace: format.namespace,
        }
    }
}

impl From<Set> for SetJson {
    fn from(set: Set) -> Self {
        Self {
            set_spec: set.set_spec,
            name: set.name,
            listed: set.listed,
        }
    }
}
