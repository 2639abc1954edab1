//! `[harvest]`: how harvested records are kept.

use catalog::RecordWay;
use serde::Deserialize;

/// How records are kept that are harvested from now on.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HarvestConfig {
    /// `files`, `packs` or `database`, for repositories that do not say it themselves. Packs with a store, else files.
    pub(crate) records: Option<RecordWay>,
}
