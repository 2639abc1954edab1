//! `[friends]`: repositories to choose from.

use serde::Deserialize;

/// Where a list of known repositories is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FriendsConfig {
    /// A file or a URL: ListFriends in XML, or a base URL on each line.
    pub(crate) source: Option<String>,
}
