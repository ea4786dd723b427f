//! Which addresses a webhook may reach: the public internet, and nothing inside the house.
//!
//! The check runs in the resolver, on the very addresses that the connection then uses, so that a name which resolves
//! to something else a moment later gains nothing. Deliberately absent: a list of allowed names.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// A host has no address that a webhook may reach.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{host} is {address}, which is not a public address")]
pub(crate) struct AddressRefused {
    /// The host as the target names it.
    pub(crate) host: String,
    /// The first of its addresses.
    pub(crate) address: IpAddr,
}

/// Whether an address is one of the public internet.
///
/// Everything that the registries of special-purpose addresses (RFC 6890 and its updates) do not call globally
/// reachable is refused; an IPv6 address that carries an IPv4 one is judged by that one.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b) {
        // This network; private use; loopback; multicast, reserved and broadcast.
        (0 | 10 | 127 | 224..=255, _) => true,
        // Shared address space (RFC 6598); link-local, cloud metadata among it; private use.
        (100, 64..=127) | (169, 254) | (172, 16..=31) | (192, 168) => true,
        // Protocol assignments, documentation, the retired 6to4 relay anycast.
        (192, 0) => c == 0 || c == 2,
        (192, 88) => c == 99,
        // Benchmarking (RFC 2544).
        (198, 18 | 19) => true,
        (198, 51) => c == 100,
        (203, 0) => c == 113,
        _ => false,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // Only 2000::/3 is given out as global unicast; this leaves out loopback, link-local, ULA and multicast.
    let global_unicast = first & 0xe000 == 0x2000;
    // Protocol assignments with Teredo and ORCHID; documentation, two blocks.
    let special = matches!((first, second), (0x2001, 0x0000..=0x01ff | 0x0db8) | (0x3fff, 0x0000..=0x0fff));
    global_unicast && !special
}

/// The IPv4 address within an IPv6 one that leads to it: mapped (::ffff:0:0/96), translated (64:ff9b::/96) or
/// 6to4 (2002::/16). The forms that nothing routes any longer are not global unicast and need no arm.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let last = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(last(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(last(high, low)),
        [0x2002, high, low, ..] => Some(last(high, low)),
        _ => None,
    }
}

/// Resolves names to the addresses that webhooks may reach.
#[derive(Debug, Clone, Copy)]
pub struct GuardedResolver {
    /// Whether addresses inside the house are let through.
    pub allow_private_networks: bool,
}

impl GuardedResolver {
    /// Keeps the addresses that may be reached.
    ///
    /// # Errors
    /// [`AddressRefused`] when there are addresses and none may be reached.
    pub(crate) fn admit(
        self,
        host: &str,
        addresses: impl IntoIterator<Item = SocketAddr>,
    ) -> Result<Vec<SocketAddr>, AddressRefused> {
        let mut admitted = Vec::new();
        let mut refused = None;
        for address in addresses {
            if self.allow_private_networks || is_public(address.ip()) {
                admitted.push(address);
            } else {
                refused.get_or_insert(address.ip());
            }
        }
        match refused {
            Some(address) if admitted.is_empty() => Err(AddressRefused { host: host.to_owned(), address }),
            Some(_) | None => Ok(admitted),
        }
    }

    /// Checks a host that is an address itself, which no resolver is asked about.
    ///
    /// # Errors
    /// [`AddressRefused`] when it may not be reached.
    pub(crate) fn admit_literal(self, host: &url::Host<&str>) -> Result<(), AddressRefused> {
        let address = match host {
            url::Host::Domain(_) => return Ok(()),
            url::Host::Ipv4(address) => IpAddr::V4(*address),
            url::Host::Ipv6(address) => IpAddr::V6(*address),
        };
        self.admit(&address.to_string(), [SocketAddr::new(address, 0)]).map(drop)
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = *self;
        Box::pin(async move {
            let host = name.as_str();
            let found = tokio::net::lookup_host((host, 0)).await?;
            let admitted = guard.admit(host, found)?;
            let addresses: Addrs = Box::new(admitted.into_iter());
            Ok(addresses)
        })
    }
}

/// The refusal somewhere in an error's chain of causes.
pub(crate) fn refusal<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a AddressRefused> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<AddressRefused>() {
            return Some(refused);
        }
        cause = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_public_internet_are_public() {
        for address in
            ["1.1.1.1", "93.184.216.34", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "::ffff:8.8.8.8"]
        {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn no_address_inside_the_house_is_public() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "2002:a00:1::",
            "2001:db8::1",
            "2001::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn a_name_with_a_private_and_a_public_address_is_reached_at_the_public_one_only() {
        let guard = GuardedResolver { allow_private_networks: false };
        let private: SocketAddr = "10.0.0.1:0".parse().unwrap();
        let public: SocketAddr = "1.1.1.1:0".parse().unwrap();
        assert_eq!(guard.admit("mixed.example", [private, public]), Ok(vec![public]));
        assert!(guard.admit("inside.example", [private]).is_err());
    }

    #[test]
    fn every_spelling_of_a_literal_is_checked() {
        let guard = GuardedResolver { allow_private_networks: false };
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::1]/",
        ] {
            let url = url::Url::parse(url).unwrap();
            assert!(guard.admit_literal(&url.host().unwrap()).is_err(), "{url}");
        }
    }
}
