//! The aggregator's settings from the configuration file, and its progress.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{Context, Refusal, Time};

/// The exposure of the aggregator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Aggregator {
    /// Whether this process exposes the catalog.
    pub enabled: bool,
    /// Where harvesters ask.
    pub base_url: String,
    /// Its name.
    pub name: String,
    /// Whether harvested records are exposed.
    pub records: bool,
    /// Whether documents of the collection are exposed.
    pub documents: bool,
    /// Repositories whose records are exposed, by base URL or number; all if there are none.
    pub repositories: Vec<String>,
    /// Formats that are offered; all if there are none.
    pub formats: Vec<String>,
    /// The treatment of records whose repository was removed: `tombstones`, or `gone` for nothing.
    pub removed_repositories: String,
    /// Parts that only some may see.
    pub areas: Vec<AggregatorArea>,
    /// Sets of the operator's own.
    pub sets: Vec<AggregatorSet>,
    /// When something that it tells changed last, or was asked about.
    pub horizon: Option<Time>,
}

/// A part that only some may see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct AggregatorArea {
    /// `/`, `/repository/N` or `/document`.
    pub path: String,
    /// Whether a password opens it.
    pub password: bool,
    /// The users whose password opens it; all of its file if there are none.
    pub users: Vec<String>,
    /// The addresses and networks that it is open to.
    pub allow: Vec<String>,
}

/// A set of the operator's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct AggregatorSet {
    /// Its setSpec.
    pub spec: String,
    /// Its name.
    pub name: String,
    /// Its conditions: `kinds: thesis; hosts: example.org`.
    pub conditions: String,
}

/// Returns the current exposure of the aggregator.
pub async fn show(context: &Context) -> Result<Aggregator, Refusal> {
    let (horizon, _) = context.catalog().horizon().await?;
    Ok(Aggregator {
        horizon: Some(Time(horizon)),
        ..context.settings().aggregator.clone()
    })
}
