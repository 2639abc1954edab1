//! Tells addresses on the internet from those behind walls.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one that everybody on the internet could ask as well.
pub(in crate::client) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(address) => is_public_v4(address),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // For the protocol itself (RFC 6890).
        || (a == 192 && b == 0 && c == 0)
        // Shared by providers (RFC 6598), and for benchmarks (RFC 2544).
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b)))
}

/// The addresses given out for the internet begin with these three bits (RFC 4291); in them, a block is kept for the
/// protocol itself (RFC 2928). So loopback, link-local, unique local and multicast addresses are out.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    first & 0xe000 == 0x2000 && !(first == 0x2001 && second < 0x200)
}

/// The IPv4 address that an IPv6 one stands for: mapped, translated, or through NAT64 or 6to4.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match s {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(of(high, low)),
        // IPv4-compatible, long out of use; `::` and `::1` are not of this kind.
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => address.to_ipv4_mapped(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_walls_is_not_public_in_any_guise() {
        for inside in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.8",
            "192.168.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:0:10.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::a00:1",
            "2002:a00:1::",
            "2001::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "8.8.8.8",
            "192.0.2.1",
            "198.20.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2001:4860:4860::8888",
            "2a00:1450::1",
        ] {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }
}
