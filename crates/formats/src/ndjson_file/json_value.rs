//! One value as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::BytesMut;

use super::escape;
use crate::file_kind::{NdjsonOptions, WideNumbers};
use crate::reading::Wire;
use crate::value::array::Array;
use crate::value::calendar::Style;
use crate::value::numeric::Numeric;
use crate::value::{self, Fault, calendar, fixed, inet};

/// Appends a value that is not NULL.
pub(crate) fn one(value: &[u8], wire: Wire, options: NdjsonOptions, out: &mut BytesMut) -> Result<(), Fault> {
    match wire {
        Wire::Bool => out.extend_from_slice(if value::boolean(value)? { b"true" } else { b"false" }),
        Wire::Int2 => integer(i16::from_be_bytes(fixed(value)?), out),
        Wire::Int4 => integer(i32::from_be_bytes(fixed(value)?), out),
        Wire::Oid => integer(u32::from_be_bytes(fixed(value)?), out),
        Wire::Int8 => match options.wide_numbers {
            WideNumbers::Number => integer(i64::from_be_bytes(fixed(value)?), out),
            WideNumbers::Text => {
                let number = i64::from_be_bytes(fixed(value)?);
                quoted(itoa::Buffer::new().format(number).as_bytes(), out);
            }
        },
        Wire::Float4 => float(f32::from_be_bytes(fixed(value)?), out),
        Wire::Float8 => float(f64::from_be_bytes(fixed(value)?), out),
        Wire::Numeric => numeric(value, options, out)?,
        Wire::Text => {
            out.extend_from_slice(b"\"");
            escape::bytes(value, out)?;
            out.extend_from_slice(b"\"");
        }
        Wire::Char => {
            let mut buffer = [0; 4];
            let length = value::char_text(value, &mut buffer)?;
            out.extend_from_slice(b"\"");
            escape::bytes(&buffer[..length], out)?;
            out.extend_from_slice(b"\"");
        }
        Wire::Json => json(value, out)?,
        Wire::Jsonb => json(value::jsonb(value)?, out)?,
        Wire::Bytea => base64(value, out)?,
        Wire::Date => quoted(calendar::date_text(value)?.as_bytes(), out),
        Wire::Time => quoted(calendar::time_text(value, Style::Iso8601)?.as_bytes(), out),
        Wire::TimeTz => quoted(calendar::time_with_zone_text(value, Style::Iso8601)?.as_bytes(), out),
        Wire::Timestamp => quoted(calendar::timestamp_text(value, false, Style::Iso8601)?.as_bytes(), out),
        Wire::TimestampTz => quoted(calendar::timestamp_text(value, true, Style::Iso8601)?.as_bytes(), out),
        Wire::Uuid => quoted(&value::uuid_text(fixed(value)?), out),
        Wire::Inet => {
            let mut text = String::new();
            inet::write(value, &mut text)?;
            quoted(text.as_bytes(), out);
        }
    }
    Ok(())
}

/// Appends an array, one JSON array in another for each dimension.
pub(crate) fn list(
    value: &[u8],
    wire: Wire,
    options: NdjsonOptions,
    out: &mut BytesMut,
) -> Result<(), Fault> {
    let mut array = Array::read(value)?;
    let lengths = array.clone();
    if lengths.lengths().is_empty() {
        out.extend_from_slice(b"[]");
    } else {
        dimension(&mut array, lengths.lengths(), wire, options, out)?;
    }
    array.end()
}

fn dimension(
    array: &mut Array<'_>,
    lengths: &[u32],
    wire: Wire,
    options: NdjsonOptions,
    out: &mut BytesMut,
) -> Result<(), Fault> {
    let Some((length, inner)) = lengths.split_first() else {
        return match array.element()? {
            Some(element) => one(element, wire, options, out),
            None => {
                out.extend_from_slice(b"null");
                Ok(())
            }
        };
    };
    for at in 0..*length {
        out.extend_from_slice(if at == 0 { b"[" } else { b"," });
        dimension(array, inner, wire, options, out)?;
    }
    out.extend_from_slice(b"]");
    Ok(())
}

fn integer(number: impl itoa::Integer, out: &mut BytesMut) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// The shortest digits that read back as the same float, of its own width.
fn float<F: zmij::Float + Into<f64> + Copy>(number: F, out: &mut BytesMut) {
    let wide: f64 = number.into();
    if wide.is_finite() {
        out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
    } else if wide.is_nan() {
        out.extend_from_slice(b"\"NaN\"");
    } else {
        out.extend_from_slice(if wide > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" });
    }
}

fn numeric(value: &[u8], options: NdjsonOptions, out: &mut BytesMut) -> Result<(), Fault> {
    match (Numeric::read(value)?, options.wide_numbers) {
        (Err(special), _) => quoted(special.as_bytes(), out),
        (Ok(numeric), WideNumbers::Number) => numeric.write(out),
        (Ok(numeric), WideNumbers::Text) => {
            out.extend_from_slice(b"\"");
            numeric.write(out);
            out.extend_from_slice(b"\"");
        }
    }
    Ok(())
}

/// A document as it is stored. Only between its tokens can there be line breaks, which would end the record: they become
/// spaces.
fn json(document: &[u8], out: &mut BytesMut) -> Result<(), Fault> {
    if !document.is_ascii() {
        value::text(document)?;
    }
    let mut written = 0;
    for at in memchr::memchr2_iter(b'\n', b'\r', document) {
        out.extend_from_slice(&document[written..at]);
        out.extend_from_slice(b" ");
        written = at + 1;
    }
    out.extend_from_slice(&document[written..]);
    Ok(())
}

/// RFC 4648, section 4, with its padding.
fn base64(value: &[u8], out: &mut BytesMut) -> Result<(), Fault> {
    const TOO_LONG: Fault = Fault::Malformed("a bytea is longer than any");
    let length = base64::encoded_len(value.len(), true).ok_or(TOO_LONG)?;
    out.extend_from_slice(b"\"");
    let start = out.len();
    out.resize(start + length, 0);
    STANDARD.encode_slice(value, &mut out[start..]).map_err(|_error| TOO_LONG)?;
    out.extend_from_slice(b"\"");
    Ok(())
}

/// Characters that need no escape.
fn quoted(text: &[u8], out: &mut BytesMut) {
    out.extend_from_slice(b"\"");
    out.extend_from_slice(text);
    out.extend_from_slice(b"\"");
}

#[cfg(test)]
mod tests;
