//! Keeps a server on the internet from leading us to addresses behind our own walls.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Which addresses may be connected to.
///
/// The caller's own base URL may lie anywhere. Once it has turned out to be public, nothing that is
/// not public is connected to: not after a redirect, and not after its name was given a new address.
#[derive(Debug, Clone, Default)]
pub(super) struct Guard {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Names that the caller gave, and whether they were found to be public.
    trusted: Vec<(String, Option<bool>)>,
    proxy: Option<String>,
}

/// A name that leads behind the walls.
#[derive(Debug, thiserror::Error)]
#[error("{0} leads to an address that is not public")]
pub(super) struct NotPublic(pub(super) String);

impl Guard {
    pub(super) fn new(proxy: Option<&Url>) -> Self {
        let guard = Self::default();
        let proxy = proxy.and_then(Url::host_str).map(str::to_owned);
        guard.lock().proxy = proxy;
        guard
    }

    /// Notes a URL that the caller gave.
    pub(super) fn trust(&self, url: &Url) {
        let Some(host) = url.host_str() else {
            return;
        };
        let public = literal(url).map(is_public);
        let mut state = self.lock();
        if !state.trusted.iter().any(|(name, _)| name == host) {
            state.trusted.push((host.to_owned(), public));
        }
    }

    /// Whether a redirect from one URL to another may be followed, as far as the URLs tell.
    pub(super) fn allows(&self, from: &Url, to: &Url) -> bool {
        if to.host_str() == from.host_str() {
            return true;
        }
        match literal(to) {
            Some(address) => is_public(address) || self.private_allowed(),
            None => true,
        }
    }

    fn private_allowed(&self) -> bool {
        let state = self.lock();
        state
            .trusted
            .iter()
            .any(|(_, public)| *public == Some(false))
    }

    /// The addresses of a name that may be connected to.
    fn admit(&self, name: &str, found: Vec<SocketAddr>) -> Vec<SocketAddr> {
        let mut state = self.lock();
        if state.proxy.as_deref() == Some(name) {
            return found;
        }
        let all_public = found.iter().all(|address| is_public(address.ip()));
        if let Some((_, public)) = state.trusted.iter_mut().find(|(host, _)| host == name) {
            public.get_or_insert(all_public);
        }
        if state
            .trusted
            .iter()
            .any(|(_, public)| *public == Some(false))
        {
            return found;
        }
        let admitted = found.into_iter();
        admitted.filter(|address| is_public(address.ip())).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let admitted = guard.admit(&host, found);
            if admitted.is_empty() {
                return Err(NotPublic(host).into());
            }
            Ok(Box::new(admitted.into_iter()) as Addrs)
        })
    }
}

/// Whether a URL names this very machine.
pub(super) fn is_this_machine(url: &Url) -> bool {
    match literal(url) {
        Some(address) => address.is_loopback(),
        None => url.host_str() == Some("localhost"),
    }
}

fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(address) => is_public_v4(address),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared by providers (RFC 6598), and for benchmarks (RFC 2544).
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    !(address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        // Site-local, long out of use.
        || address.segments()[0] & 0xffc0 == 0xfec0)
}

/// The IPv4 address that an IPv6 one stands for: mapped, or through NAT64 or 6to4.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match s {
        [0x64, 0xff9b, 0 | 1, 0, 0, 0, high, low] => Some(of(high, low)),
        // IPv4-compatible, long out of use; `::` and `::1` are not of this kind.
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => address.to_ipv4_mapped(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn addresses(ip: &str) -> Vec<SocketAddr> {
        vec![SocketAddr::new(ip.parse().unwrap(), 0)]
    }

    #[test]
    fn a_public_repository_cannot_lead_to_addresses_behind_the_wall() {
        let guard = Guard::new(None);
        let base = url("http://repository.example/oai");
        guard.trust(&base);
        assert_eq!(
            guard
                .admit("repository.example", addresses("192.0.2.1"))
                .len(),
            1
        );

        for inside in [
            "http://127.0.0.1/",
            "http://10.1.2.3/",
            "http://169.254.169.254/latest/meta-data",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://0x7f000001/",
            "http://100.64.0.1/",
        ] {
            assert!(!guard.allows(&base, &url(inside)), "{inside}");
        }
        assert!(guard.allows(&base, &url("http://8.8.8.8/")));
        assert!(
            guard
                .admit("evil.example", addresses("127.0.0.1"))
                .is_empty()
        );
        assert!(
            guard
                .admit("repository.example", addresses("127.0.0.1"))
                .is_empty()
        );
    }

    #[test]
    fn a_private_repository_may_lead_anywhere() {
        let guard = Guard::new(None);
        let base = url("http://127.0.0.1:8080/oai");
        guard.trust(&base);
        assert!(guard.allows(&base, &url("http://127.0.0.2/")));
        assert!(
            !guard
                .admit("inside.example", addresses("10.0.0.1"))
                .is_empty()
        );
    }
}
