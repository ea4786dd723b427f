//! Values as COPY writes them in binary, read without keeping anything.

pub(crate) mod array;
pub(crate) mod calendar;
pub(crate) mod inet;
pub(crate) mod numeric;

/// What is wrong with one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The file cannot hold it exactly.
    Unfit(&'static str),
    /// It is not what its type looks like on the wire.
    Malformed(&'static str),
}

/// A value of a fixed length.
pub(crate) fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Fault> {
    bytes.try_into().map_err(|_error| Fault::Malformed("its length is not that of its type"))
}

/// A text. The server converts to UTF-8, unless its own encoding is `SQL_ASCII`.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_error| Fault::Unfit("a text is not UTF-8"))
}

/// The text of a `jsonb`, behind its version.
pub(crate) fn jsonb(bytes: &[u8]) -> Result<&[u8], Fault> {
    match bytes.split_first() {
        Some((1, text)) => Ok(text),
        _ => Err(Fault::Malformed("a jsonb is of another version")),
    }
}

/// A `bool`.
pub(crate) fn boolean(bytes: &[u8]) -> Result<bool, Fault> {
    match fixed(bytes)? {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(Fault::Malformed("a boolean is neither true nor false")),
    }
}

/// A `"char"` as PostgreSQL 16 and later write it: nothing for a zero, three octal digits for what is no ASCII.
pub(crate) fn char_text(bytes: &[u8], buffer: &mut [u8; 4]) -> Result<usize, Fault> {
    let [byte] = fixed(bytes)?;
    Ok(match byte {
        0 => 0,
        1..=127 => {
            buffer[0] = byte;
            1
        }
        128..=255 => {
            *buffer = [b'\\', b'0' + (byte >> 6), b'0' + ((byte >> 3) & 7), b'0' + (byte & 7)];
            4
        }
    })
}

/// The 36 characters of a `uuid`.
pub(crate) fn uuid_text(bytes: [u8; 16]) -> [u8; 36] {
    let mut text = *b"00000000-0000-0000-0000-000000000000";
    let mut at = 0;
    for (number, byte) in bytes.into_iter().enumerate() {
        at += usize::from(matches!(number, 4 | 6 | 8 | 10));
        text[at..at + 2].copy_from_slice(&hex(byte));
        at += 2;
    }
    text
}

/// Two hexadecimal digits.
pub(crate) fn hex(byte: u8) -> [u8; 2] {
    let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
    [digit(byte >> 4), digit(byte & 15)]
}

/// Writes two digits of a number below 100.
pub(crate) fn two_digits(number: u8) -> [u8; 2] {
    [b'0' + number / 10, b'0' + number % 10]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_char_is_its_ascii_or_three_octal_digits() {
        let written = |byte: u8| {
            let mut buffer = [0; 4];
            let length = char_text(&[byte], &mut buffer).expect("one byte");
            String::from_utf8(buffer[..length].to_vec()).expect("ASCII")
        };
        assert_eq!([written(0), written(b'a'), written(127)], ["", "a", "\u{7f}"]);
        assert_eq!([written(128), written(255)], ["\\200", "\\377"]);
    }

    #[test]
    fn a_value_of_another_length_or_version_is_malformed() {
        assert!(matches!(fixed::<4>(&[0; 3]), Err(Fault::Malformed(_))));
        assert!(matches!(jsonb(b"\x02{}"), Err(Fault::Malformed(_))));
        assert!(matches!(jsonb(b""), Err(Fault::Malformed(_))));
        assert!(matches!(boolean(&[2]), Err(Fault::Malformed(_))));
        assert!(matches!(text(b"\xff"), Err(Fault::Unfit(_))));
    }
}
