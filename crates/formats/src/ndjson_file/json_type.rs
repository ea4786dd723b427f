//! What each value is in JSON, in words.

use crate::file_kind::{NdjsonOptions, WideNumbers};
use crate::reading::{Shape, Wire};

/// The words of `docs/formats.md`.
pub(crate) fn json_type(shape: Shape, options: NdjsonOptions) -> String {
    match shape {
        Shape::One(wire) => of_one(wire, options).to_owned(),
        Shape::List(wire) => format!("array of: {}", of_one(wire, options)),
    }
}

const fn of_one(wire: Wire, options: NdjsonOptions) -> &'static str {
    match (wire, options.wide_numbers) {
        (Wire::Bool, _) => "true, false",
        (Wire::Int2 | Wire::Int4 | Wire::Oid, _) | (Wire::Int8, WideNumbers::Number) => "number",
        (Wire::Int8, WideNumbers::Text) => "string of digits",
        (Wire::Float4 | Wire::Float8, _) => "number; \"NaN\", \"Infinity\", \"-Infinity\"",
        (Wire::Numeric, WideNumbers::Number) => {
            "number of the same digits; \"NaN\", \"Infinity\", \"-Infinity\""
        }
        (Wire::Numeric, WideNumbers::Text) => {
            "string of the same digits; \"NaN\", \"Infinity\", \"-Infinity\""
        }
        (Wire::Text, _) => "string",
        (Wire::Char, _) => "string; a byte beyond ASCII as \"\\\\ooo\"",
        (Wire::Bytea, _) => "string, base64",
        (Wire::Json | Wire::Jsonb, _) => "the JSON itself",
        (Wire::Date, _) => "string, 2026-01-31",
        (Wire::Time, _) => "string, 13:05:59.000001",
        (Wire::TimeTz, _) => "string, 13:05:59.000001+02:00",
        (Wire::Timestamp, _) => "string, 2026-01-31T13:05:59.000001",
        (Wire::TimestampTz, _) => "string, 2026-01-31T13:05:59.000001Z",
        (Wire::Uuid, _) => "string of 36 characters",
        (Wire::Inet, _) => "string, as Postgres writes it",
    }
}
