//! The order of a job of the kind `clean`.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::documents::CleanDocuments;
use crate::parents::CleanParents;

/// The order of a job of the kind `clean`. As JSON, these are its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CleanOrder {
    /// Moves documents to the trash.
    Documents(CleanDocuments),
    /// Writes the list of parents that are worth another crawl.
    Parents(CleanParents),
}

impl CleanOrder {
    /// Reads the parameters of a job.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        serde_json::from_str(json).context("the parameters of the job cannot be read")
    }
}
