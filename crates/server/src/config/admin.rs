//! The address for operators.

use std::net::SocketAddr;

use serde::Deserialize;

/// The address for operators.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdminConfig {
    /// Where `/metrics` and `/health` are; nowhere unless told.
    pub listen: Option<SocketAddr>,
}
