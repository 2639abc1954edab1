//! Who is asking: the address, behind trusted proxies too, and the credentials of the request.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

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
        keys: Vec::new(),
    }
}

/// The nearest address that is not a trusted proxy's. What a client wrote further left is its own invention.
fn address(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[String]) -> IpAddr {
    let mut address = peer;
    let forwarded: Vec<_> = headers
        .get_all("x-forwarded-for")
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .collect();
    for hop in forwarded.iter().rev() {
        if !network::address_in(trusted_proxies, address) {
            break;
        }
        match forwarded_address(hop) {
            Some(next) => address = next,
            // The client is somebody else than the proxy, so the proxy's own rights are not for it.
            None => return NOBODY,
        }
    }
    address
}

/// An address as proxies write it: alone, or with the port it came from.
fn forwarded_address(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim();
    let with_port = || hop.parse().map(|socket: SocketAddr| socket.ip());
    hop.parse().or_else(|_| with_port()).ok()
}

/// Stands for an address that cannot be told: no network holds it, not even one of all addresses.
const NOBODY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

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
    #[test]
    fn a_forwarded_address_may_have_a_port_and_one_that_cannot_be_read_is_nobodys() {
        let seen = |forwarded: &[u8]| {
            let mut headers = HeaderMap::new();
            let value = http::HeaderValue::from_bytes(forwarded).unwrap();
            headers.insert("x-forwarded-for", value);
            let trusted = ["127.0.0.0/8".to_owned()];
            let peer = "127.0.0.1".parse().unwrap();
            requester(peer, &headers, &trusted).address.to_string()
        };

        for (forwarded, address) in [
            ("203.0.113.9:4711", "203.0.113.9"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("unknown, 203.0.113.9", "203.0.113.9"),
            ("203.0.113.9, 127.0.0.2:80", "203.0.113.9"),
        ] {
            assert_eq!(seen(forwarded.as_bytes()), address, "{forwarded}");
        }
        for forwarded in [
            "",
            "unknown",
            "_hidden",
            "203.0.113.9,",
            "203.0.113.9, unknown",
            "203.0.113.9:x",
            "203.0.113",
            "unknown, 127.0.0.2",
        ] {
            assert_eq!(seen(forwarded.as_bytes()), "0.0.0.0", "{forwarded}");
        }
        assert_eq!(seen(b"\xff"), "0.0.0.0");
    }
}
