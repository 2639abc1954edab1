//! Which address a request comes from, behind trusted proxies too.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::request::Parts;

use crate::problem::Problem;
use crate::state::ConsoleState;

/// The address of who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client(pub(crate) IpAddr);

impl FromRequestParts<ConsoleState> for Client {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ConsoleState) -> Result<Self, Problem> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(NOBODY, |ConnectInfo(peer)| peer.ip());
        let trusted = &state.config().trusted_proxies;
        Ok(Self(address(peer, &parts.headers, trusted)))
    }
}

/// The nearest address that is not a trusted proxy's. What a client wrote further left is its own invention.
fn address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    let hops = headers.get_all("x-forwarded-for").iter();
    let hops: Vec<_> = hops
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    let mut address = peer.to_canonical();
    for hop in hops.iter().rev() {
        if !trusted.contains(&address) {
            break;
        }
        match hop.trim().parse::<IpAddr>() {
            Ok(next) => address = next.to_canonical(),
            Err(_) => return NOBODY,
        }
    }
    address
}

/// Stands for an address that cannot be told.
const NOBODY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let mut headers = HeaderMap::new();
        let forwarded = "203.0.113.9, 198.51.100.7".parse().unwrap();
        headers.insert("x-forwarded-for", forwarded);
        let proxy = IpAddr::from([127, 0, 0, 1]);

        let client = address(proxy, &headers, &[proxy]);
        assert_eq!(client, IpAddr::from([198, 51, 100, 7]));
        assert_eq!(address(proxy, &headers, &[]), proxy);
        headers.insert("x-forwarded-for", "unknown".parse().unwrap());
        assert_eq!(address(proxy, &headers, &[proxy]), NOBODY);
    }
}
