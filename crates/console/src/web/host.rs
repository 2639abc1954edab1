//! Which names the console may be called by.
//!
//! A web page elsewhere can make its own name lead to this machine and then ask as if it were us (DNS rebinding). It
//! cannot change the name that the browser sends along, so a name that nobody configured is turned away. An address
//! instead of a name cannot be rebound.

use std::net::IpAddr;

use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};

use crate::config::ConsoleConfig;

/// The names that are taken.
#[derive(Debug, Clone)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    pub(crate) fn new(config: &ConsoleConfig) -> Self {
        let mut names = vec!["localhost".to_owned()];
        names.extend(config.hosts.iter().map(|name| name.to_ascii_lowercase()));
        let public = config.public_origin();
        let public = public.and_then(|origin| origin.parse::<Uri>().ok());
        names.extend(public.and_then(|uri| uri.host().map(str::to_owned)));
        Self(names)
    }

    /// Whether a request is meant for us.
    pub(crate) fn accept(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return false;
        };
        let Some(host) = host.to_str().ok().and_then(|host| host.parse().ok()) else {
            return false;
        };
        self.knows(&host)
            && uri
                .authority()
                .is_none_or(|authority| self.knows(authority))
    }

    fn knows(&self, authority: &Authority) -> bool {
        let host = authority.host().trim_end_matches('.');
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if authority.as_str().contains('@') {
            return false;
        }
        bare.parse::<IpAddr>().is_ok() || self.0.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Hosts {
        Hosts::new(&ConsoleConfig {
            public_url: Some("https://Harvest.example.org:8443".to_owned()),
            hosts: vec!["garner.internal".to_owned()],
            ..ConsoleConfig::default()
        })
    }

    fn accepts(host: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        hosts().accept(&Uri::from_static("/"), &headers)
    }

    #[test]
    fn configured_names_and_addresses_are_taken() {
        for good in [
            "localhost:8080",
            "127.0.0.1:8080",
            "[::1]:8080",
            "192.0.2.7",
            "harvest.example.org",
            "HARVEST.example.org.",
            "garner.internal:80",
        ] {
            assert!(accepts(good), "{good}");
        }
    }

    #[test]
    fn other_names_are_turned_away() {
        for bad in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
            "a b",
            "localhost@evil.example",
        ] {
            assert!(!accepts(bad), "{bad}");
        }
        assert!(!hosts().accept(&Uri::from_static("/"), &HeaderMap::new()));
        let mut headers = HeaderMap::new();
        headers.append(HOST, "localhost".parse().unwrap());
        let elsewhere = Uri::from_static("http://evil.example/");
        assert!(!hosts().accept(&elsewhere, &headers));
        headers.append(HOST, "evil.example".parse().unwrap());
        assert!(!hosts().accept(&Uri::from_static("/"), &headers));
    }
}
