//! A mail as the sink holds it, made readable.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The text of a mail with one part, whatever it was encoded in for the way.
pub(super) fn text_of(message: &str) -> String {
    // The sink gives a character for each byte.
    let bytes: Vec<u8> = message.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect();
    let message = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = message.split_once("\r\n\r\n").unwrap_or(("", &message));
    let encoding = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("Content-Transfer-Encoding").then(|| value.trim().to_ascii_lowercase())
    });
    let decoded = match encoding.as_deref() {
        Some("base64") => {
            let packed: String = body.split_whitespace().collect();
            STANDARD.decode(packed).unwrap_or_else(|_| body.as_bytes().to_vec())
        }
        Some("quoted-printable") => unquote(body),
        _ => body.as_bytes().to_vec(),
    };
    String::from_utf8_lossy(&decoded).replace("\r\n", "\n")
}

/// RFC 2045, section 6.7.
fn unquote(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'=' {
            bytes.push(byte);
        } else if let Some(after) = rest.strip_prefix(b"\r\n") {
            rest = after;
        } else if let Some(code) = rest.get(..2).and_then(|code| std::str::from_utf8(code).ok())
            && let Ok(decoded) = u8::from_str_radix(code, 16)
        {
            bytes.push(decoded);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_encodings_and_none_become_text() {
        let quoted = "Content-Transfer-Encoding: quoted-printable\r\n\r\n=E8=A8=82=\r\n=E5=96=AE a=3Db";
        assert_eq!(text_of(quoted), "訂單 a=b");
        assert_eq!(text_of("Content-Transfer-Encoding: base64\r\n\r\n6KiC\r\n5Zau\r\n"), "訂單");
        assert_eq!(text_of("Subject: x\r\n\r\nplain\r\n"), "plain\n");
    }
}
