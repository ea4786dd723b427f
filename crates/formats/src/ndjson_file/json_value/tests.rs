//! Values as JSON, read back by serde_json.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn written(value: &[u8], wire: Wire, wide_numbers: WideNumbers) -> Result<String, Fault> {
    let mut out = BytesMut::new();
    one(value, wire, NdjsonOptions { wide_numbers }, &mut out)?;
    Ok(String::from_utf8(out.to_vec()).expect("UTF-8"))
}

fn number(value: &[u8], wire: Wire) -> String {
    written(value, wire, WideNumbers::Number).expect("a value")
}

#[test]
fn wide_numbers_are_texts_of_the_same_digits_when_asked_for_and_narrow_ones_never() {
    let both = |value: &[u8], wire| {
        [WideNumbers::Number, WideNumbers::Text].map(|wide| written(value, wire, wide).expect("a value"))
    };
    assert_eq!(
        both(&i64::MIN.to_be_bytes(), Wire::Int8),
        ["-9223372036854775808", "\"-9223372036854775808\""]
    );
    assert_eq!(both(&[0, 1, 0, 0, 0, 0, 0, 2, 0, 7], Wire::Numeric), ["7.00", "\"7.00\""]);
    assert_eq!(both(&[0, 0, 0, 0, 0xC0, 0, 0, 0], Wire::Numeric), ["\"NaN\"", "\"NaN\""]);
    assert_eq!(both(&u32::MAX.to_be_bytes(), Wire::Oid), ["4294967295", "4294967295"]);
}

#[test]
fn floats_that_are_no_numbers_are_named() {
    for (float, name) in
        [(f64::NAN, "\"NaN\""), (f64::INFINITY, "\"Infinity\""), (f64::NEG_INFINITY, "\"-Infinity\"")]
    {
        assert_eq!(number(&float.to_be_bytes(), Wire::Float8), name);
        #[expect(clippy::cast_possible_truncation, reason = "what is no number stays what it is")]
        let narrow = float as f32;
        assert_eq!(number(&narrow.to_be_bytes(), Wire::Float4), name);
    }
    assert_eq!(number(&(-0.0_f64).to_be_bytes(), Wire::Float8), "-0.0");
    assert_eq!(number(&0.1_f32.to_be_bytes(), Wire::Float4), "0.1", "not the digits of the wider float");
}

#[test]
fn a_document_stays_in_its_line_as_it_is() {
    assert_eq!(number(b"{\n\"a\" :\r\n1.10}", Wire::Json), "{ \"a\" :  1.10}");
    assert_eq!(number(b"\x01[\"\\n\"]", Wire::Jsonb), "[\"\\n\"]");
    assert!(matches!(written(b"\"\xff\"", Wire::Json, WideNumbers::Number), Err(Fault::Unfit(_))));
}

#[test]
fn an_array_that_is_shorter_or_longer_than_it_says_is_malformed() {
    let head = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1];
    let of = |elements: &[u8]| {
        let mut out = BytesMut::new();
        let bytes = [head.as_slice(), elements].concat();
        list(&bytes, Wire::Int4, NdjsonOptions::default(), &mut out).map(|()| out)
    };
    let seven = [0, 0, 0, 4, 0, 0, 0, 7];
    assert_eq!(of(&seven).as_deref(), Ok(b"[7]".as_slice()));
    assert!(of(&seven[..7]).is_err() && of(&[seven.as_slice(), &[0]].concat()).is_err());
}

proptest! {
    #[test]
    fn a_float_is_read_back_as_the_same_float(bits in any::<u64>()) {
        let float = f64::from_bits(bits);
        prop_assume!(float.is_finite());
        let read: f64 = number(&float.to_be_bytes(), Wire::Float8).parse().expect("a number");
        prop_assert_eq!(read.to_bits(), bits);
    }

    #[test]
    fn a_narrow_float_is_read_back_as_the_same_float(bits in any::<u32>()) {
        let float = f32::from_bits(bits);
        prop_assume!(float.is_finite());
        let json = number(&float.to_be_bytes(), Wire::Float4);
        prop_assert!(serde_json::from_str::<Value>(&json).expect("JSON").is_number());
        prop_assert_eq!(json.parse::<f32>().expect("a number").to_bits(), bits);
    }

    #[test]
    fn bytes_are_read_back_as_they_were(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let json = number(&bytes, Wire::Bytea);
        let text: String = serde_json::from_str(&json).expect("a string");
        prop_assert_eq!(STANDARD.decode(text).expect("base64"), bytes);
    }

    #[test]
    fn a_uuid_is_its_digits_with_four_hyphens(bytes in any::<[u8; 16]>()) {
        let text: String = serde_json::from_str(&number(&bytes, Wire::Uuid)).expect("a string");
        let hyphens: Vec<usize> = text.match_indices('-').map(|(at, _)| at).collect();
        prop_assert_eq!(hyphens, [8, 13, 18, 23]);
        prop_assert_eq!(u128::from_str_radix(&text.replace('-', ""), 16), Ok(u128::from_be_bytes(bytes)));
    }
}
