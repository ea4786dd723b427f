//! Numbers on the wire and as text.

use proptest::prelude::*;

use super::*;

/// What `numeric_send` makes of a decimal text.
fn wire(text: &str) -> Vec<u8> {
    let (sign, text) = text.strip_prefix('-').map_or((0_u16, text), |rest| (0x4000, rest));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let padded = format!("{}{whole}", "0".repeat((4 - whole.len() % 4) % 4));
    let weight = i32::try_from(padded.len() / 4).expect("short") - 1;
    let behind = format!("{fraction}{}", "0".repeat((4 - fraction.len() % 4) % 4));
    let all = padded + &behind;
    let groups: Vec<u16> = all
        .as_bytes()
        .chunks(4)
        .map(|group| std::str::from_utf8(group).expect("ASCII").parse().expect("digits"))
        .collect();
    let leading = groups.iter().take_while(|group| **group == 0).count();
    let trailing = groups[leading..].iter().rev().take_while(|group| **group == 0).count();
    let kept = &groups[leading..groups.len() - trailing];
    let weight = if kept.is_empty() { 0 } else { weight - i32::try_from(leading).expect("short") };
    let weight = i16::try_from(weight).expect("short");
    let count = u16::try_from(kept.len()).expect("short");
    let scale = u16::try_from(fraction.len()).expect("short");
    let head = [count.to_be_bytes(), weight.to_be_bytes(), sign.to_be_bytes(), scale.to_be_bytes()].concat();
    head.into_iter().chain(kept.iter().flat_map(|group| group.to_be_bytes())).collect()
}

fn read(bytes: &[u8]) -> Numeric<'_> {
    Numeric::read(bytes).expect("well formed").expect("digits")
}

fn written(bytes: &[u8]) -> String {
    let mut out = BytesMut::new();
    read(bytes).write(&mut out);
    String::from_utf8(out.to_vec()).expect("ASCII")
}

#[test]
fn the_longest_numbers_are_written_whole() {
    let smallest = format!("0.{}1", "0".repeat(16_382));
    let largest = format!("-{}", "9".repeat(131_072));
    for text in ["0", "0.00", "1", "-1.10", "10000", "9999.9999", "100000000.00000001", &smallest, &largest] {
        assert!(written(&wire(text)) == *text, "another text came out for one of {} characters", text.len());
    }
}

#[test]
fn what_has_no_digits_is_named() {
    let special = |sign: u16| [0, 0, 0, 0, (sign >> 8) as u8, (sign & 0xff) as u8, 0, 0];
    assert_eq!(Numeric::read(&special(0xC000)).expect("well formed").err(), Some("NaN"));
    assert_eq!(Numeric::read(&special(0xD000)).expect("well formed").err(), Some("Infinity"));
    assert_eq!(Numeric::read(&special(0xF000)).expect("well formed").err(), Some("-Infinity"));
}

#[test]
fn what_is_no_numeric_is_malformed() {
    let groups = |count: u16, group: u16| {
        [count.to_be_bytes().as_slice(), &[0, 0, 0, 0, 0, 0], &group.to_be_bytes()].concat()
    };
    assert!(Numeric::read(&groups(1, 9_999)).is_ok());
    for wrong in
        [groups(1, 10_000), groups(2, 1), groups(0, 1), vec![0; 7], [&wire("1")[..4], &[9, 9, 0, 0]].concat()]
    {
        assert!(matches!(Numeric::read(&wrong), Err(Fault::Malformed(_))), "{wrong:?}");
    }
}

#[test]
fn a_number_that_its_column_cannot_hold_is_refused() {
    assert_eq!(read(&wire("99.99")).unscaled(4, 2), Ok(9_999));
    assert_eq!(read(&wire("-0.5")).unscaled(4, 2), Ok(-50));
    assert_eq!(read(&wire(&"9".repeat(38))).unscaled(38, 0), Ok(10_i128.pow(38) - 1));
    for (text, precision, scale) in [("100", 4, 2), ("0.001", 4, 2), ("1.00000001", 38, 4)] {
        assert!(matches!(read(&wire(text)).unscaled(precision, scale), Err(Fault::Unfit(_))), "{text}");
    }
    let huge = format!("1{}", "0".repeat(131_071));
    assert!(matches!(read(&wire(&huge)).unscaled(38, 0), Err(Fault::Unfit(_))));
}

proptest! {
    #[test]
    fn a_number_is_written_as_it_was(text in "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,40})?") {
        // Postgres has no negative zero.
        let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-'));
        let text = if is_zero { text.trim_start_matches('-') } else { &text };
        prop_assert_eq!(written(&wire(text)), text);
    }

    #[test]
    fn the_unscaled_number_has_the_same_digits(number in -10_i128.pow(30)..10_i128.pow(30), scale in 0_u8..8) {
        let digits = format!("{:0>width$}", number.unsigned_abs(), width = usize::from(scale) + 1);
        let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
        let sign = if number < 0 { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        let bytes = wire(&format!("{sign}{whole}{point}{fraction}"));
        prop_assert_eq!(read(&bytes).unscaled(38, scale), Ok(number));
    }
}
