//! Who is asking: the address, behind trusted proxies too, and the credentials of the request.

use std::net::IpAddr;

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
    Requester {
        address: address(peer, headers, trusted_proxies),
        authorization: text(AUTHORIZATION),
        cookie: text(COOKIE),
    }
}

/// The nearest address that is not a trusted proxy's. What a client wrote further left is its own invention.
fn address(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[String]) -> IpAddr {
    let mut address = peer;
    let forwarded: Vec<_> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    for hop in forwarded.iter().rev() {
        if !network::address_in(trusted_proxies, address) {
            break;
        }
        match hop.trim().parse() {
            Ok(next) => address = next,
            Err(_) => break,
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarded_addresses_are_believed_from_trusted_proxies_only() {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "10.0.0.1, 203.0.113.9".parse().unwrap());
        let peer: IpAddr = "127.0.0.1".parse().unwrap();

        let seen = |trusted: &[&str]| {
            let trusted: Vec<_> = trusted.iter().map(|text| (*text).to_owned()).collect();
            requester(peer, &headers, &trusted).address.to_string()
        };

        assert_eq!(seen(&[]), "127.0.0.1");
        assert_eq!(seen(&["127.0.0.0/8"]), "203.0.113.9");
        assert_eq!(seen(&["127.0.0.0/8", "203.0.113.0/24"]), "10.0.0.1");
    }
}
