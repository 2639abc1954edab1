//! `[friends]`: repositories to choose from.

use serde::Deserialize;

/// The place of a list of known repositories.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FriendsConfig {
    /// A file or a URL: ListFriends in XML, or a base URL on each line.
    pub(crate) source: Option<String>,
}
