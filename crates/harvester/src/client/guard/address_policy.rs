//! Which addresses a client may connect to, and how networks are written.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::public::is_public;

/// Which addresses a client may connect to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AddressPolicy {
    /// Wherever the caller's own base URL lies. Only what a server on the internet leads to has to be there as well.
    #[default]
    Anything,
    /// Addresses on the internet and those that are allowed, whoever names them: for base URLs that people type in who
    /// may not see everything that this machine sees.
    Public {
        /// Addresses allowed beside the internet.
        allowed: Vec<Network>,
    },
}

/// Addresses that may be connected to: `10.0.0.0/8`, `::1`, or the name of a host, spelled as in the base URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Network {
    /// All addresses that begin with the same bits.
    Block(IpNet),
    /// A host, whatever its addresses are.
    Host(String),
}

impl AddressPolicy {
    /// Whether an address may be connected to that a name led to, or that was written out.
    pub fn admits(&self, name: Option<&str>, address: IpAddr) -> bool {
        let Self::Public { allowed } = self else {
            return true;
        };
        is_public(address) || allowed.iter().any(|network| network.holds(name, address))
    }
}

impl Network {
    fn holds(&self, name: Option<&str>, address: IpAddr) -> bool {
        match self {
            Self::Host(host) => name.is_some_and(|name| name.eq_ignore_ascii_case(host)),
            // An IPv4 address in the guise of an IPv6 one is the same machine.
            Self::Block(block) => {
                block.contains(&address) || block.contains(&address.to_canonical())
            }
        }
    }
}

/// A text that names no addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a network such as 10.0.0.0/8 or ::1/128 nor the name of a host")]
pub struct NotANetwork(String);

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let block = text
            .parse()
            .or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        match block {
            Ok(block) => Ok(Self::Block(block)),
            Err(_) if is_host(text) => Ok(Self::Host(text.to_ascii_lowercase())),
            Err(_) => Err(NotANetwork(text.to_owned())),
        }
    }
}

fn is_host(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    // A text that looks like an address and is none would never be met.
    let all_digits = text.bytes().all(|byte| !byte.is_ascii_alphabetic());
    !text.is_empty() && text.len() <= 253 && text.bytes().all(plain) && !all_digits
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(block) => block.fmt(f),
            Self::Host(host) => f.write_str(host),
        }
    }
}

impl TryFrom<String> for Network {
    type Error = NotANetwork;

    fn try_from(text: String) -> Result<Self, NotANetwork> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allowed: &[&str]) -> AddressPolicy {
        let allowed = allowed.iter().map(|network| network.parse().unwrap());
        AddressPolicy::Public {
            allowed: allowed.collect(),
        }
    }

    #[test]
    fn networks_hold_what_begins_alike() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.1.2", "192.168.0.1"),
            ("192.168.4.0/22", "192.168.7.255", "192.168.8.0"),
            ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("127.0.0.0/8", "::ffff:127.0.0.9", "::1"),
            ("::1/128", "::1", "::2"),
            ("fd00::/8", "fd12::1", "fe80::1"),
            (
                "::ffff:10.0.0.0/104",
                "::ffff:10.9.9.9",
                "::ffff:192.168.0.1",
            ),
            ("0.0.0.0/0", "10.0.0.1", "fd00::1"),
        ] {
            let policy = policy(&[network]);
            assert!(policy.admits(None, inside.parse().unwrap()), "{network}");
            assert!(!policy.admits(None, outside.parse().unwrap()), "{network}");
        }
    }

    #[test]
    fn a_host_that_is_named_may_lie_anywhere_and_others_may_not() {
        let policy = policy(&["Inside.example"]);
        let address = "10.0.0.1".parse().unwrap();
        assert!(policy.admits(Some("inside.example"), address));
        assert!(!policy.admits(Some("other.inside.example"), address));
        assert!(!policy.admits(None, address));
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in [
            "",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0/8",
            "::/129",
            "10.0.0.0/+8",
            "http://a/",
            "256.1.1.1",
            "*",
            "a b",
            "inside.example/8",
        ] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
        for text in ["10.0.0.0/8", "::1/128", "localhost"] {
            assert_eq!(text.parse::<Network>().unwrap().to_string(), text);
        }
    }
}
