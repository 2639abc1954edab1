//! The configuration of the console.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, bail};
use axum::http::Uri;
use jobs::Retention;
use serde::Deserialize;

use operations::Settings;

/// The console: where it answers, and for how long people stay logged in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConsoleConfig {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The address that people use, if a proxy stands in front: `https://harvest.example.org`.
    pub public_url: Option<String>,
    /// Further names by which the console may be called.
    pub hosts: Vec<String>,
    /// Proxies whose word on the address of a client is taken.
    pub trusted_proxies: Vec<IpAddr>,
    /// After so many minutes without a request a session is over.
    pub session_idle_minutes: u64,
    /// After so many hours a session is over in any case.
    pub session_hours: u64,
    /// Connections that may be open at a time.
    pub connections: usize,
    /// The same for one client; proxies that are trusted have no such limit.
    pub connections_per_client: usize,
    /// How many seconds a client may take to send the head of a request, or to read a little more.
    pub stall_seconds: u64,
    /// How long ended things are kept, to be told; it is set beside the console.
    #[serde(skip)]
    pub retention: Retention,
    /// The settings of operations; they are set beside the console.
    #[serde(skip)]
    pub operations: Settings,
}

impl Default for ConsoleConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8090)),
            public_url: None,
            hosts: Vec::new(),
            trusted_proxies: Vec::new(),
            session_idle_minutes: 120,
            session_hours: 24 * 7,
            connections: 512,
            connections_per_client: 128,
            stall_seconds: 30,
            retention: Retention::default(),
            operations: Settings::default(),
        }
    }
}

impl ConsoleConfig {
    /// Refuses what cannot work, before anything is started.
    pub fn check(&self) -> anyhow::Result<()> {
        if let Some(url) = &self.public_url {
            origin(url).with_context(|| {
                format!(
                    "console.public_url is `{url}`; give it as https://harvest.example.org, without a path"
                )
            })?;
        }
        if self.session_idle_minutes == 0 || self.session_hours == 0 {
            bail!("console.session_idle_minutes and console.session_hours have to be at least 1");
        }
        for (name, value) in [
            ("connections", self.connections as u64),
            ("connections_per_client", self.connections_per_client as u64),
            ("stall_seconds", self.stall_seconds),
        ] {
            if value == 0 {
                bail!("console.{name} has to be at least 1");
            }
        }
        Ok(())
    }

    /// A warning about an address that others can reach too, unless a proxy takes care of it, and about a proxy that
    /// is not known.
    pub fn warning(&self, listening: SocketAddr) -> Option<String> {
        let warnings = [self.without_tls(listening), self.without_proxies()];
        let warnings: Vec<_> = warnings.into_iter().flatten().collect();
        (!warnings.is_empty()).then(|| warnings.join("; "))
    }

    fn without_proxies(&self) -> Option<String> {
        let is_told = self.public_url.is_none() || !self.trusted_proxies.is_empty();
        (!is_told).then(|| {
            "console.public_url is set, but console.trusted_proxies is empty: all who come through the proxy count as one address, and wait together when one of them tries passwords; name the address of the proxy there".to_owned()
        })
    }

    fn without_tls(&self, listening: SocketAddr) -> Option<String> {
        if listening.ip().is_loopback() || self.is_https() {
            return None;
        }
        Some(format!(
            "the console listens at {listening}, where others can reach it, and without TLS: whoever is on the way can read passwords; put a proxy with TLS in front and set console.public_url to its https address, or listen at 127.0.0.1"
        ))
    }

    /// The address that people use, without a path, unless it is known only to those who reach it.
    pub fn address(&self) -> Option<String> {
        let is_plain = self.listen.port() != 0 && !self.listen.ip().is_unspecified();
        let origin = self.public_origin();
        origin.or_else(|| is_plain.then(|| format!("http://{}", self.listen)))
    }

    /// Whether browsers come by https, through a proxy.
    pub(crate) fn is_https(&self) -> bool {
        let url = self.public_url.as_deref();
        url.is_some_and(|url| url.to_ascii_lowercase().starts_with("https://"))
    }

    /// Scheme and authority that browsers see, if they are configured.
    pub(crate) fn public_origin(&self) -> Option<String> {
        self.public_url.as_deref().and_then(|url| origin(url).ok())
    }

    pub(crate) fn session_idle(&self) -> Duration {
        Duration::from_secs(self.session_idle_minutes.saturating_mul(60))
    }

    pub(crate) fn session_lifetime(&self) -> Duration {
        Duration::from_secs(self.session_hours.saturating_mul(3600))
    }
}

/// The origin of a URL that has nothing else, lower case.
fn origin(url: &str) -> anyhow::Result<String> {
    let url: Uri = url.parse()?;
    let (Some(scheme), Some(authority)) = (url.scheme_str(), url.authority()) else {
        bail!("it has no scheme or no host");
    };
    if !matches!(scheme, "http" | "https") {
        bail!("its scheme is neither http nor https");
    }
    if url.path() != "/" || url.query().is_some() || authority.as_str().contains('@') {
        bail!("there is more in it than scheme, host and port");
    }
    let origin = format!("{scheme}://{authority}").to_ascii_lowercase();
    // Browsers leave out the port that the scheme has by itself.
    let usual = match scheme {
        "https" => ":443",
        _ => ":80",
    };
    Ok(origin.strip_suffix(usual).unwrap_or(&origin).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_public_url(url: &str) -> ConsoleConfig {
        ConsoleConfig {
            public_url: Some(url.to_owned()),
            ..ConsoleConfig::default()
        }
    }

    #[test]
    fn public_urls_are_origins() {
        for good in ["https://harvest.example.org", "http://localhost:8080/"] {
            assert!(with_public_url(good).check().is_ok(), "{good}");
        }
        for bad in [
            "harvest.example.org",
            "ftp://a.example",
            "https://a.example/b",
            "https://a:b@c.example",
            "https://",
        ] {
            assert!(with_public_url(bad).check().is_err(), "{bad}");
        }
    }

    #[test]
    fn origins_are_written_as_browsers_do() {
        let origin = |url| with_public_url(url).public_origin().unwrap();
        assert_eq!(origin("https://A.example:443/"), "https://a.example");
        assert_eq!(origin("http://a.example:443"), "http://a.example:443");
    }

    #[test]
    fn warns_of_passwords_in_the_clear() {
        let elsewhere: SocketAddr = "0.0.0.0:8080".parse().unwrap();
        let plain = ConsoleConfig::default();
        assert!(plain.warning(elsewhere).unwrap().contains("TLS"));
        assert!(plain.warning(plain.listen).is_none());
        let mut behind_proxy = with_public_url("https://harvest.example.org");
        let warning = behind_proxy.warning(elsewhere).unwrap();
        assert!(warning.contains("console.trusted_proxies"), "{warning}");
        assert!(!warning.contains("TLS"), "{warning}");
        behind_proxy.trusted_proxies = vec![Ipv4Addr::LOCALHOST.into()];
        assert!(behind_proxy.warning(elsewhere).is_none());
    }
}
