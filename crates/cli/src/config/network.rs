//! `[network]`: how repositories are asked.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use harvester::{AddressPolicy, ClientOptions};
use serde::Deserialize;

/// How repositories are asked, and which addresses may be.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NetworkConfig {
    /// Addresses, networks and host names that may be asked although they are not public: `127.0.0.1`, `10.0.0.0/8`.
    pub(crate) allow: Vec<String>,
    /// Whom repositories may write to: sent in the header From.
    pub(crate) contact: Option<String>,
    /// A proxy for all requests.
    pub(crate) proxy: Option<String>,
    /// A file of certificates (PEM) to trust beside those of the system.
    pub(crate) ca_file: Option<PathBuf>,
    /// Seconds between the beginnings of two requests of a harvest.
    pub(crate) interval_seconds: Option<f64>,
    /// How many requests of a harvest may be open at once.
    pub(crate) connections: Option<u16>,
    /// How long a server may be silent.
    pub(crate) timeout_seconds: Option<u64>,
    /// How often a request is made before it is given up.
    pub(crate) attempts: Option<u32>,
    /// The longest wait that a server may ask for; a harvest that is to wait for longer is put off.
    pub(crate) longest_wait_seconds: Option<u64>,
}

impl NetworkConfig {
    /// As a client has it.
    pub(crate) fn client_options(&self) -> anyhow::Result<ClientOptions> {
        let usual = ClientOptions::default();
        let timeout = self.timeout_seconds.map(Duration::from_secs);
        if timeout == Some(Duration::ZERO) {
            bail!("network.timeout_seconds: write a number from 1 on");
        }
        let interval = self.interval_seconds.map(Duration::try_from_secs_f64);
        let interval = interval
            .transpose()
            .context("network.interval_seconds: write a number of seconds")?;
        if self
            .connections
            .is_some_and(|number| !(1..=64).contains(&number))
        {
            bail!("network.connections: write a number from 1 to 64");
        }
        if self.attempts == Some(0) {
            bail!("network.attempts: write a number from 1 on");
        }
        let read_timeout = timeout.unwrap_or(usual.read_timeout);
        Ok(ClientOptions {
            from: self.contact.clone(),
            proxy: self.proxy.clone(),
            ca_file: self.ca_file.clone(),
            connect_timeout: usual.connect_timeout.min(read_timeout),
            read_timeout,
            attempts: self.attempts.unwrap_or(usual.attempts),
            interval: interval.unwrap_or(usual.interval),
            connections: self.connections.map_or(usual.connections, usize::from),
            resource_connections: (self.connections)
                .map_or(usual.resource_connections, usize::from),
            longest_wait: self
                .longest_wait_seconds
                .map_or(jobs::LONGEST_WAIT, Duration::from_secs),
            allow: self.policy()?,
            ..usual
        })
    }

    /// Base URLs come from people who may not be allowed to see all that this machine sees.
    fn policy(&self) -> anyhow::Result<AddressPolicy> {
        let allowed = self.allow.iter().map(|network| network.parse());
        let allowed = allowed.collect::<Result<_, _>>();
        Ok(AddressPolicy::Public {
            allowed: allowed.context("network.allow")?,
        })
    }
}
