//! How a client behaves towards the servers it asks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::pace::{Pace, RealPace};
use super::{AddressPolicy, Listener, Stop};
use crate::read::ReadRules;

/// The settings of a client; the defaults suit slow repositories.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The client that asks.
    pub user_agent: String,
    /// Whom to write to if the harvest is a burden.
    pub from: Option<String>,
    /// Further headers of each request, as `Name: value`.
    pub headers: Vec<String>,
    /// The credentials of the repository; sent to its own host only.
    pub credentials: Option<Credentials>,
    /// Which addresses may be connected to.
    pub allow: AddressPolicy,
    /// A proxy for all requests.
    pub proxy: Option<String>,
    /// A file of certificates in PEM to trust beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// Certificates in PEM to trust beside those of the system and of `ca_file`.
    pub certificates: Option<String>,
    /// How long a connection may take to open.
    pub connect_timeout: Duration,
    /// How long the server may be silent.
    pub read_timeout: Duration,
    /// How often a request is made before it is given up.
    pub attempts: u32,
    /// The wait before the second attempt; it doubles from then on.
    pub first_wait: Duration,
    /// The longest wait before one attempt. A server that asks for more is not asked again: see
    /// [`ErrorKind::AskedToWait`](crate::ErrorKind::AskedToWait).
    pub longest_wait: Duration,
    /// The longest wait for one request in all.
    pub longest_total_wait: Duration,
    /// The time between the beginnings of two requests to a host.
    pub interval: Duration,
    /// How many requests may be open at a host, besides those for resources.
    pub connections: usize,
    /// How many requests for resources may be open at a host.
    pub resource_connections: usize,
    /// How many redirects are followed.
    pub redirects: u32,
    /// How answers are read.
    pub read: ReadRules,
    /// The clock.
    pub pace: Arc<dyn Pace>,
    /// The way to stop.
    pub stop: Stop,
    /// The listener that hears of waits.
    pub listener: Listener,
}

/// The credentials of a repository.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Credentials {
    /// A name and a password.
    Basic {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
    /// A token.
    Bearer(String),
}

impl ClientOptions {
    /// Lets so many requests be open at a host, for resources and for all else.
    pub fn set_connections(&mut self, connections: u16) {
        self.connections = usize::from(connections);
        self.resource_connections = usize::from(connections);
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("garner/", env!("CARGO_PKG_VERSION")).to_owned(),
            from: None,
            headers: Vec::new(),
            credentials: None,
            allow: AddressPolicy::default(),
            proxy: None,
            ca_file: None,
            certificates: None,
            connect_timeout: Duration::from_secs(30),
            read_timeout: Duration::from_secs(300),
            attempts: 6,
            first_wait: Duration::from_secs(2),
            longest_wait: Duration::from_secs(3600),
            longest_total_wait: Duration::from_secs(2 * 3600),
            interval: Duration::ZERO,
            connections: 1,
            resource_connections: 4,
            redirects: 10,
            read: ReadRules::default(),
            pace: Arc::new(RealPace),
            stop: Stop::default(),
            listener: Listener::default(),
        }
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(…)")
    }
}
