//! One value as Postgres' own output function writes it. What has no decoder here comes as that text already.

use bytes::BytesMut;

use super::quoting::Quoting;
use crate::reading::Wire;
use crate::value::calendar::Style::Postgres;
use crate::value::numeric::Numeric;
use crate::value::{self, Fault, calendar, fixed, inet};

/// Appends a value that is not NULL. Only texts can hold what has to be quoted.
pub(super) fn one(value: &[u8], wire: Wire, quoting: Quoting, out: &mut BytesMut) -> Result<(), Fault> {
    match wire {
        Wire::Bool => out.extend_from_slice(if value::boolean(value)? { b"t" } else { b"f" }),
        Wire::Int2 => integer(i16::from_be_bytes(fixed(value)?), out),
        Wire::Int4 => integer(i32::from_be_bytes(fixed(value)?), out),
        Wire::Int8 => integer(i64::from_be_bytes(fixed(value)?), out),
        Wire::Oid => integer(u32::from_be_bytes(fixed(value)?), out),
        Wire::Numeric => match Numeric::read(value)? {
            Ok(numeric) => numeric.write(out),
            Err(special) => out.extend_from_slice(special.as_bytes()),
        },
        Wire::Text | Wire::Json => quoting.text(value::text(value)?.as_bytes(), out),
        Wire::Jsonb => quoting.text(value::text(value::jsonb(value)?)?.as_bytes(), out),
        Wire::Bytea => bytea(value, out),
        Wire::Date => time(&calendar::date_text(value)?, quoting, out),
        Wire::Time => time(&calendar::time_text(value, Postgres)?, quoting, out),
        Wire::TimeTz => time(&calendar::time_with_zone_text(value, Postgres)?, quoting, out),
        Wire::Timestamp => time(&calendar::timestamp_text(value, false, Postgres)?, quoting, out),
        Wire::TimestampTz => time(&calendar::timestamp_text(value, true, Postgres)?, quoting, out),
        Wire::Uuid => out.extend_from_slice(&value::uuid_text(fixed(value)?)),
        Wire::Inet => {
            let mut text = String::new();
            inet::write(value, &mut text)?;
            out.extend_from_slice(text.as_bytes());
        }
        Wire::Char | Wire::Float4 | Wire::Float8 => {
            return Err(Fault::Malformed("it came as what it is and not as its text"));
        }
    }
    Ok(())
}

fn integer(number: impl itoa::Integer, out: &mut BytesMut) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// `-infinity` begins like a formula.
fn time(text: &calendar::Text, quoting: Quoting, out: &mut BytesMut) {
    out.extend_from_slice(quoting.guard(text.as_bytes()));
    out.extend_from_slice(text.as_bytes());
}

/// `\x` and hexadecimal digits, which is `bytea_output = hex`.
fn bytea(value: &[u8], out: &mut BytesMut) {
    out.reserve(2 + 2 * value.len());
    out.extend_from_slice(b"\\x");
    for byte in value {
        out.extend_from_slice(&value::hex(*byte));
    }
}
