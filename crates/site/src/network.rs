//! Addresses and networks, as the configuration lists them.

use std::net::IpAddr;

/// Whether an address is in one of the networks given as text; for other lists than areas.
pub fn address_in(networks: &[String], address: IpAddr) -> bool {
    networks
        .iter()
        .filter_map(|text| Network::parse(text))
        .any(|network| network.holds(address))
}

/// Whether a text names an address or a network.
pub fn is_network(text: &str) -> bool {
    Network::parse(text).is_some()
}

/// An address, or all that begin like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network {
    address: IpAddr,
    /// How many bits count.
    pub(crate) prefix: u8,
}

impl Network {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/').unzip();
        let address: IpAddr = address.unwrap_or(text).parse().ok()?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Some(longest), |prefix| prefix.parse().ok())?;
        (prefix <= longest).then_some(Self { address, prefix })
    }

    /// Whether an address belongs here. The unspecified one belongs nowhere: it stands for a client whose
    /// address cannot be told.
    pub(crate) fn holds(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if address.is_unspecified() {
            return false;
        }
        match (self.address, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let shift = 32 - u32::from(self.prefix);
                shift == 32 || (network.to_bits() >> shift) == (address.to_bits() >> shift)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let shift = 128 - u32::from(self.prefix);
                shift == 128 || (network.to_bits() >> shift) == (address.to_bits() >> shift)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_know_their_own() {
        let holds = |network: &str, address: &str| {
            Network::parse(network)
                .unwrap()
                .holds(address.parse().unwrap())
        };
        assert!(holds("10.0.0.0/8", "10.255.1.2"));
        assert!(!holds("10.0.0.0/8", "11.0.0.0"));
        assert!(holds("0.0.0.0/0", "203.0.113.5"));
        assert!(holds("127.0.0.1", "::ffff:127.0.0.1"));
        assert!(holds("2001:db8::/32", "2001:db8:1::1"));
        assert!(!holds("2001:db8::/32", "192.0.2.1"));
        for network in ["0.0.0.0/0", "::/0", "0.0.0.0", "::"] {
            for nobody in ["0.0.0.0", "::", "::ffff:0.0.0.0"] {
                assert!(!holds(network, nobody), "{network} {nobody}");
            }
        }
        for text in ["", "x", "10.0.0.0/33", "::/129", "10.0.0"] {
            assert_eq!(Network::parse(text), None, "{text}");
        }
    }
}
