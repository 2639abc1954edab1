//! Addresses and networks, as the configuration lists them.

use std::net::IpAddr;

use ipnet::IpNet;

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
pub(crate) struct Network(IpNet);

impl Network {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let address = || text.parse::<IpAddr>().ok().map(IpNet::from);
        text.parse().ok().or_else(address).map(Self)
    }

    /// Whether it holds every address of its kind.
    pub(crate) fn is_everywhere(&self) -> bool {
        self.0.prefix_len() == 0
    }

    /// Whether an address belongs here. The unspecified one belongs nowhere: it stands for a client whose
    /// address cannot be told.
    pub(crate) fn holds(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        !address.is_unspecified() && self.0.contains(&address)
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
