//! Texts as JSON strings (RFC 8259, section 7): what must be escaped is, and nothing else.

use bytes::BytesMut;

use crate::value::{self, Fault};

const LANES: usize = 8;
const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Appends a text from the wire, without the quotes around it.
pub(crate) fn bytes(bytes: &[u8], out: &mut BytesMut) -> Result<(), Fault> {
    if is_plain(bytes) {
        out.extend_from_slice(bytes);
    } else {
        text(value::text(bytes)?, out);
    }
    Ok(())
}

/// Appends a text without the quotes around it.
pub(crate) fn text(text: &str, out: &mut BytesMut) {
    let bytes = text.as_bytes();
    let mut written = 0;
    for (at, byte) in bytes.iter().copied().enumerate() {
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            0x09 => b't',
            0x0a => b'n',
            0x0c => b'f',
            0x0d => b'r',
            0..0x20 => 0,
            _ => continue,
        };
        out.extend_from_slice(&bytes[written..at]);
        if short == 0 {
            let [high, low] = value::hex(byte);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        } else {
            out.extend_from_slice(&[b'\\', short]);
        }
        written = at + 1;
    }
    out.extend_from_slice(&bytes[written..]);
}

/// Whether every byte is ASCII that stands for itself, eight at a time.
fn is_plain(bytes: &[u8]) -> bool {
    let mut lanes = bytes.chunks_exact(LANES);
    let suspicious = lanes.by_ref().fold(0, |found, lanes| {
        let lanes = u64::from_ne_bytes(lanes.try_into().unwrap_or_default());
        found | suspects(lanes)
    });
    let mut last = [b' '; LANES];
    last[..lanes.remainder().len()].copy_from_slice(lanes.remainder());
    (suspicious | suspects(u64::from_ne_bytes(last))) & HIGH == 0
}

/// Has the highest bit in each lane that is below a space, a quote, a backslash, or no ASCII. A lane above such a one may be
/// suspected, too; that costs a look, and no wrong byte.
const fn suspects(lanes: u64) -> u64 {
    const fn equal(lanes: u64, byte: u8) -> u64 {
        (lanes ^ (LOW * byte as u64)).wrapping_sub(LOW)
    }
    lanes | lanes.wrapping_sub(LOW * 0x20) | equal(lanes, b'"') | equal(lanes, b'\\')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(text: &str) -> String {
        let mut out = BytesMut::from("\"");
        bytes(text.as_bytes(), &mut out).expect("UTF-8");
        out.extend_from_slice(b"\"");
        String::from_utf8(out.to_vec()).expect("UTF-8")
    }

    #[test]
    fn every_character_that_has_to_be_escaped_is() {
        for byte in 0..=0x7f_u8 {
            for at in 0..17 {
                let mut text = "a".repeat(17);
                text.replace_range(at..=at, &char::from(byte).to_string());
                assert_eq!(
                    escaped(&text),
                    serde_json::to_string(&text).expect("a string"),
                    "{byte:#x} at {at}"
                );
            }
        }
    }

    #[test]
    fn what_is_not_utf_8_is_refused() {
        for wrong in [&b"\xff"[..], b"abcdefgh\xc3", b"\xed\xa0\x80", b"\xc0\x80"] {
            assert!(matches!(bytes(wrong, &mut BytesMut::new()), Err(Fault::Unfit(_))), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_read_back_as_it_was(text in any::<String>()) {
            prop_assert_eq!(&escaped(&text), &serde_json::to_string(&text).expect("a string"));
        }
    }
}
