//! The repository's description of itself.

use provider::Description;
use serde::Deserialize;

/// The repository's description of itself.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RepositoryConfig {
    /// Its name.
    pub name: Option<String>,
    /// Whom to write to.
    pub admin_emails: Vec<String>,
    /// Containers that say more about it.
    pub descriptions: Vec<Description>,
}
