//! The requester: the address, behind trusted proxies too, and the credentials of the request.

use std::net::IpAddr;

use connection::client_address;
use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE};
use site::{Requester, network};

/// The requester of a request that came from a peer.
pub(crate) fn requester(
    peer: IpAddr,
    headers: &HeaderMap,
    trusted_proxies: &[String],
) -> Requester {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
    };
    let is_proxy = |address| network::address_in(trusted_proxies, address);
    Requester {
        address: client_address(peer, headers, is_proxy),
        authorization: text(AUTHORIZATION),
        cookie: text(COOKIE),
        keys: Vec::new(),
    }
}
