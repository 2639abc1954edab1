//! Keeps everybody from leading us to addresses behind our own walls: servers on the internet, and where that is wanted
//! also those who type in base URLs.

pub(super) mod address_policy;
pub(super) mod fence;
pub(super) mod public;

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::vec;

use hyper_util::client::legacy::connect::dns;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tower_service::Service;

use self::public::is_public;
use super::AddressPolicy;

/// Which addresses may be connected to.
///
/// Unless the policy says more, the caller's own base URL may lie anywhere. Once it has turned out to be public,
/// nothing that is not public is connected to: not after a redirect, and not after its name was given a new address.
#[derive(Debug, Clone, Default)]
pub(super) struct Guard {
    policy: Arc<AddressPolicy>,
    /// The host of the proxy, which the configuration names.
    proxy: Option<Arc<str>>,
    trusted: Arc<Mutex<Trusted>>,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Names that the caller gave, and whether they were found to be public.
type Trusted = Vec<(String, Option<bool>)>;

/// A name that leads behind the walls.
#[derive(Debug, thiserror::Error)]
#[error("{0} leads to an address that is not public")]
pub(super) struct NotPublic(pub(super) String);

impl Guard {
    pub(super) fn new(policy: AddressPolicy, proxy: Option<&Url>) -> Self {
        Self {
            policy: Arc::new(policy),
            proxy: proxy.and_then(Url::host_str).map(Arc::from),
            trusted: Arc::default(),
        }
    }

    /// Notes a URL that the caller gave.
    pub(super) fn trust(&self, url: &Url) {
        let Some(host) = url.host_str() else {
            return;
        };
        let public = literal(url).map(is_public);
        let mut trusted = self.trusted();
        if !trusted.iter().any(|(name, _)| name == host) {
            trusted.push((host.to_owned(), public));
        }
    }

    /// Whether a redirect from one URL to another may be followed, as far as the URLs tell.
    pub(super) fn allows(&self, from: &Url, to: &Url) -> bool {
        let Some(address) = literal(to) else {
            return true;
        };
        match *self.policy {
            AddressPolicy::Public { .. } => self.policy.admits(None, address),
            AddressPolicy::Anything if to.host_str() == from.host_str() => true,
            AddressPolicy::Anything => is_public(address) || self.private_allowed(),
        }
    }

    /// Whether an address that a URL spells out may be asked for, whoever gave it.
    pub(super) fn admits_literal(&self, url: &Url) -> bool {
        literal(url).is_none_or(|address| self.policy.admits(None, address))
    }

    /// The name in a URL that must be looked up here because a proxy will connect to it, and nobody asks us then. A
    /// name that only the proxy knows is the proxy's to judge.
    pub(super) fn name_to_look_up<'a>(&self, url: &'a Url) -> Option<&'a str> {
        let watched = matches!(*self.policy, AddressPolicy::Public { .. });
        let host = url.host_str().filter(|_| literal(url).is_none());
        host.filter(|_| watched && self.proxy.is_some())
    }

    /// Whether all addresses of a name may be connected to.
    pub(super) fn admits_all(&self, name: &str, found: impl Iterator<Item = SocketAddr>) -> bool {
        let mut found = found;
        found.all(|address| self.policy.admits(Some(name), address.ip()))
    }

    /// The message for an address that must not be connected to.
    pub(super) fn reason(&self, host: &str) -> String {
        match *self.policy {
            AddressPolicy::Anything => format!("{host} is not public"),
            AddressPolicy::Public { .. } => {
                format!("{host} is not public; the configuration may allow it with network.allow")
            }
        }
    }

    fn private_allowed(&self) -> bool {
        let trusted = self.trusted();
        trusted.iter().any(|(_, public)| *public == Some(false))
    }

    /// The addresses of a name that may be connected to.
    fn admit(&self, name: &str, found: Vec<SocketAddr>) -> Vec<SocketAddr> {
        if self.proxy.as_deref() == Some(name) {
            return found;
        }
        let admitted = |address: &SocketAddr| self.policy.admits(Some(name), address.ip());
        if let AddressPolicy::Public { .. } = *self.policy {
            return found.into_iter().filter(admitted).collect();
        }
        let all_public = found.iter().all(|address| is_public(address.ip()));
        let mut trusted = self.trusted();
        if let Some((_, public)) = trusted.iter_mut().find(|(host, _)| host == name) {
            public.get_or_insert(all_public);
        }
        drop(trusted);
        if self.private_allowed() {
            return found;
        }
        let found = found.into_iter();
        found.filter(|address| is_public(address.ip())).collect()
    }

    /// Looks a name up, and returns the addresses that may be connected to.
    async fn look_up(self, host: String) -> Result<vec::IntoIter<SocketAddr>, BoxError> {
        let found = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
        let admitted = self.admit(&host, found);
        match admitted.is_empty() {
            true => Err(NotPublic(host).into()),
            false => Ok(admitted.into_iter()),
        }
    }

    fn trusted(&self) -> MutexGuard<'_, Trusted> {
        self.trusted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let found = self.clone().look_up(name.as_str().to_owned());
        Box::pin(async { Ok(Box::new(found.await?) as Addrs) })
    }
}

/// The same for connections that are made without the library.
impl Service<dns::Name> for Guard {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: dns::Name) -> Self::Future {
        Box::pin(self.clone().look_up(name.as_str().to_owned()))
    }
}

/// Whether a URL names this very machine.
pub(super) fn is_this_machine(url: &Url) -> bool {
    match literal(url) {
        Some(address) => address.is_loopback(),
        None => url.host_str() == Some("localhost"),
    }
}

/// The address that a URL spells out; the library has undone octal, decimal and other spellings of IPv4.
fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn addresses(ips: &[&str]) -> Vec<SocketAddr> {
        let ips = ips.iter().map(|ip| ip.parse().unwrap());
        ips.map(|ip| SocketAddr::new(ip, 0)).collect()
    }

    fn anything() -> Guard {
        Guard::new(AddressPolicy::Anything, None)
    }

    fn public(allowed: &[&str], proxy: Option<&str>) -> Guard {
        let allowed = allowed.iter().map(|network| network.parse().unwrap());
        let allowed = allowed.collect();
        Guard::new(AddressPolicy::Public { allowed }, proxy.map(url).as_ref())
    }

    const INSIDE: [&str; 13] = [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://0x7f000001/",
        "http://10.1.2.3/",
        "http://169.254.169.254/latest/meta-data",
        "http://100.64.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[fd00::1]/",
        "http://[fe80::1]/",
    ];

    #[test]
    fn a_public_repository_cannot_lead_to_addresses_behind_the_wall() {
        let guard = anything();
        let base = url("http://repository.example/oai");
        guard.trust(&base);
        let there = guard.admit("repository.example", addresses(&["192.0.2.1"]));
        assert_eq!(there.len(), 1);

        for inside in INSIDE {
            assert!(!guard.allows(&base, &url(inside)), "{inside}");
        }
        assert!(guard.allows(&base, &url("http://8.8.8.8/")));
        for name in ["evil.example", "repository.example"] {
            assert!(guard.admit(name, addresses(&["127.0.0.1"])).is_empty());
        }
    }

    #[test]
    fn a_private_repository_may_lead_anywhere() {
        let guard = anything();
        let base = url("http://127.0.0.1:8080/oai");
        guard.trust(&base);
        assert!(guard.admits_literal(&base));
        assert!(guard.allows(&base, &url("http://127.0.0.2/")));
        let inside = guard.admit("inside.example", addresses(&["10.0.0.1"]));
        assert_eq!(inside.len(), 1);
    }

    #[test]
    fn under_the_strict_policy_nobody_is_trusted() {
        let guard = public(&[], None);
        for inside in INSIDE.map(url) {
            guard.trust(&inside);
            assert!(!guard.admits_literal(&inside), "{inside}");
            assert!(!guard.allows(&inside, &inside), "{inside}");
        }
        assert!(guard.admits_literal(&url("http://8.8.8.8/")));
        assert!(guard.admits_literal(&url("http://repository.example/")));
        let found = addresses(&["127.0.0.1", "192.0.2.1", "fe80::1"]);
        let admitted = guard.admit("repository.example", found);
        assert_eq!(admitted, addresses(&["192.0.2.1"]));
    }

    #[test]
    fn under_the_strict_policy_what_is_allowed_can_be_had_and_nothing_beside_it() {
        let guard = public(&["127.0.0.0/8", "inside.example"], None);
        assert!(guard.admits_literal(&url("http://127.0.0.1/")));
        assert!(guard.admits_literal(&url("http://[::ffff:127.0.0.1]/")));
        assert!(!guard.admits_literal(&url("http://10.0.0.1/")));
        let inside = addresses(&["10.0.0.1"]);
        assert_eq!(guard.admit("inside.example", inside.clone()), inside);
        assert!(guard.admit("other.example", inside).is_empty());
    }

    #[test]
    fn a_proxy_may_lie_anywhere_and_what_it_is_asked_for_may_not() {
        let guard = public(&[], Some("http://proxy.example:3128"));
        let inside = addresses(&["10.0.0.1"]);
        assert_eq!(guard.admit("proxy.example", inside.clone()), inside);
        assert!(!guard.admits_literal(&url("http://10.0.0.1/")));
        let target = url("http://inside.example/");
        assert_eq!(guard.name_to_look_up(&target), Some("inside.example"));
        // The proxy may choose any of them.
        let found = addresses(&["192.0.2.1", "10.0.0.1"]);
        assert!(!guard.admits_all("inside.example", found.into_iter()));
    }
}
