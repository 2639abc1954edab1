//! The address of a client, behind trusted proxies too.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use http::HeaderMap;

/// The nearest address that is not a trusted proxy's. What a client wrote further left is its own invention.
///
/// The unspecified address stands for one that cannot be told.
pub fn client_address(
    peer: IpAddr,
    headers: &HeaderMap,
    is_proxy: impl Fn(IpAddr) -> bool,
) -> IpAddr {
    let mut address = peer.to_canonical();
    let forwarded: Vec<_> = headers
        .get_all("x-forwarded-for")
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .collect();
    for hop in forwarded.iter().rev() {
        if !is_proxy(address) {
            break;
        }
        match forwarded_address(hop) {
            Some(next) => address = next.to_canonical(),
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

const NOBODY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn seen(forwarded: &[u8], is_proxy: impl Fn(IpAddr) -> bool) -> String {
        let mut headers = HeaderMap::new();
        let value = http::HeaderValue::from_bytes(forwarded).unwrap();
        headers.insert("x-forwarded-for", value);
        client_address(PROXY, &headers, is_proxy).to_string()
    }

    #[test]
    fn forwarded_addresses_are_believed_from_trusted_proxies_only() {
        let forwarded = b"10.0.0.1, 203.0.113.9";
        let next = "203.0.113.9".parse::<IpAddr>().unwrap();
        assert_eq!(seen(forwarded, |_| false), "127.0.0.1");
        assert_eq!(seen(forwarded, |address| address == PROXY), "203.0.113.9");
        let both = |address| address == PROXY || address == next;
        assert_eq!(seen(forwarded, both), "10.0.0.1");
    }

    #[test]
    fn a_forwarded_address_may_have_a_port_and_one_that_cannot_be_read_is_nobodys() {
        let seen = |forwarded| seen(forwarded, |address| address.is_loopback());
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
