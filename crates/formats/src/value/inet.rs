//! `inet` and `cidr` as Postgres' own output functions write them.

use std::fmt::Write as _;

use super::{Fault, fixed};

const MALFORMED: Fault = Fault::Malformed("a network address is none");

/// Appends the address, and its mask where Postgres shows one.
pub(crate) fn write(bytes: &[u8], text: &mut String) -> Result<(), Fault> {
    // Family (2 for IPv4, 3 for IPv6), bits of the mask, whether it is a cidr, length of the address.
    let (&[family, bits, is_cidr, _], address) = bytes.split_first_chunk().ok_or(MALFORMED)?;
    let whole = match family {
        2 => {
            let [a, b, c, d] = fixed(address)?;
            let _infallible = write!(text, "{a}.{b}.{c}.{d}");
            32
        }
        3 => {
            write_v6(fixed(address)?, text);
            128
        }
        _ => return Err(MALFORMED),
    };
    if bits > whole {
        return Err(MALFORMED);
    }
    if bits < whole || is_cidr == 1 {
        let _infallible = write!(text, "/{bits}");
    }
    Ok(())
}

/// The first of the longest runs of zeros is left out, and an address that carries one of IPv4 shows it
/// (PostgreSQL, `inet_net_ntop_ipv6`).
fn write_v6(address: [u8; 16], text: &mut String) {
    let word = |at: usize| u16::from_be_bytes([address[2 * at], address[2 * at + 1]]);
    let (mut start, mut length) = (8, 1);
    let mut at = 0;
    while at < 8 {
        let run = (at..8).take_while(|at| word(*at) == 0).count();
        if run > length {
            (start, length) = (at, run);
        }
        at += run.max(1);
    }
    let carries_v4 = start == 0 && (length == 6 || length == 5 && word(5) == 0xffff);
    let mut at = 0;
    while at < 8 {
        if at == start {
            text.push_str("::");
            at += length;
            continue;
        }
        if at > 0 && at != start + length {
            text.push(':');
        }
        if at == 6 && carries_v4 {
            let [.., a, b, c, d] = address;
            let _infallible = write!(text, "{a}.{b}.{c}.{d}");
            return;
        }
        let _infallible = write!(text, "{:x}", word(at));
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v6(words: [u16; 8], bits: u8, is_cidr: u8) -> String {
        let address: Vec<u8> = words.into_iter().flat_map(u16::to_be_bytes).collect();
        let mut text = String::new();
        write(&[&[3, bits, is_cidr, 16], address.as_slice()].concat(), &mut text).expect("an address");
        text
    }

    #[test]
    fn an_address_is_written_as_postgres_writes_it() {
        let mut text = String::new();
        write(&[2, 32, 0, 4, 192, 168, 0, 1], &mut text).expect("an address");
        write(&[2, 32, 1, 4, 10, 0, 0, 1], &mut text).expect("an address");
        write(&[2, 8, 0, 4, 10, 0, 0, 1], &mut text).expect("an address");
        assert_eq!(text, "192.168.0.110.0.0.1/3210.0.0.1/8");
        assert_eq!(v6([0x2001, 0xdb8, 0, 0, 1, 0, 0, 1], 128, 0), "2001:db8::1:0:0:1");
        assert_eq!(v6([0; 8], 0, 0), "::/0");
        assert_eq!(v6([0, 0, 0, 0, 0, 0, 0, 1], 128, 1), "::1/128");
        assert_eq!(v6([1, 0, 3, 4, 5, 6, 7, 8], 128, 0), "1:0:3:4:5:6:7:8");
        assert_eq!(v6([1, 2, 3, 4, 5, 6, 0, 0], 64, 0), "1:2:3:4:5:6::/64");
        assert_eq!(v6([0, 0, 0, 0, 0, 0xffff, 0x102, 0x304], 128, 0), "::ffff:1.2.3.4");
        assert_eq!(v6([0, 0, 0, 0, 0, 0, 0x102, 0x304], 128, 0), "::1.2.3.4");
    }

    #[test]
    fn what_is_no_address_is_malformed() {
        for wrong in
            [&[][..], &[2, 33, 0, 4, 1, 1, 1, 1], &[2, 32, 0, 4, 1, 1, 1], &[4, 32, 0, 4, 1, 1, 1, 1]]
        {
            assert!(matches!(write(wrong, &mut String::new()), Err(Fault::Malformed(_))), "{wrong:?}");
        }
    }
}
