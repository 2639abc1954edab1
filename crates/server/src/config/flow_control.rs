//! How much may be asked at once.

use serde::Deserialize;

/// How much may be asked at once.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlowControlConfig {
    /// Lists and records being written at once.
    pub lists: usize,
    /// The same for one client.
    pub lists_per_client: usize,
    /// The wait that a client is told that is turned away.
    pub retry_after_seconds: u64,
    /// Connections at once.
    pub connections: usize,
    /// The same for one client.
    pub connections_per_client: usize,
    /// How long a client may take to read or to send a little more.
    pub stall_seconds: u64,
}

impl Default for FlowControlConfig {
    fn default() -> Self {
        Self {
            lists: 32,
            lists_per_client: 8,
            retry_after_seconds: 10,
            connections: 1024,
            connections_per_client: 256,
            stall_seconds: 60,
        }
    }
}
