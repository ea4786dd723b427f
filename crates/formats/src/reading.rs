//! How each type of Postgres is read: what the COPY selects, and what then comes.
//!
//! What is worth it comes in Postgres' binary form. Everything else comes as the text that its output function writes,
//! so no type is refused for want of a decoder. Types are known by the oids that `initdb` gives them, never by name.

use crate::column::{PgType, TypeKind};
use crate::statement::Selected;

/// The first oid that a database's own types can have; below are the types that every PostgreSQL has.
const FIRST_OWN_OID: u32 = 16_384;

const XML: u32 = 142;
const RECORD: u32 = 2249;
const RECORD_ARRAY: u32 = 2287;

/// How one value lies in a COPY in binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Bool,
    Bytea,
    /// `"char"`: one byte, which need not be a character.
    Char,
    Int2,
    Int4,
    Int8,
    Oid,
    Float4,
    Float8,
    Numeric,
    /// Text in the client's encoding, UTF-8.
    Text,
    Json,
    Jsonb,
    Date,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
    Uuid,
    Inet,
}

/// One value, or an array of such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    One(Wire),
    List(Wire),
}

/// How a column is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) selected: Selected,
    pub(crate) shape: Shape,
}

impl Reading {
    const fn itself(shape: Shape) -> Self {
        Self { selected: Selected::Itself, shape }
    }

    const fn text(selected: Selected) -> Self {
        Self { selected, shape: Shape::One(Wire::Text) }
    }

    /// The same where every value is to be the text that its output function writes: what has no decoder that writes that
    /// very text comes as text.
    pub(crate) fn to_write_as_postgres(pg_type: &PgType, as_text: bool) -> Option<Self> {
        let reading = Self::of(pg_type, as_text)?;
        Some(match reading.shape {
            // Of two shortest texts of a float Postgres avoids the one that lies between two floats.
            Shape::One(Wire::Float4 | Wire::Float8) => Self::text(Selected::Cast),
            // Its text is another one since PostgreSQL 16.
            Shape::One(Wire::Char) | Shape::List(_) => Self::text(Selected::Output),
            Shape::One(_) => reading,
        })
    }

    /// How columns of the type are read. `None` where no value of it can be written at all.
    pub(crate) fn of(pg_type: &PgType, as_text: bool) -> Option<Self> {
        if pg_type.kind == TypeKind::Pseudo {
            // A row that a query makes on the way; every other pseudo-type has no values.
            let is_row = matches!(pg_type.oid, RECORD | RECORD_ARRAY);
            return is_row.then_some(Self::text(Selected::Output));
        }
        if as_text {
            return Some(Self::text(Selected::Output));
        }
        let Some(element) = pg_type.array else {
            return Some(match wire(pg_type.oid, pg_type.kind) {
                Some(wire) => Self::itself(Shape::One(wire)),
                None if casts_as_it_is_written(pg_type.oid) => Self::text(Selected::Cast),
                None => Self::text(Selected::Output),
            });
        };
        Some(match wire(element.oid, element.kind) {
            Some(wire) => Self::itself(Shape::List(wire)),
            None if casts_as_it_is_written(element.oid) && element.kind != TypeKind::Pseudo => {
                Self { selected: Selected::ArrayCast, shape: Shape::List(Wire::Text) }
            }
            None => Self::text(Selected::Output),
        })
    }
}

/// Whether Postgres casts the type to `text` by its output function. A database's own types may have a cast of their
/// own, and so has `xml`; `inet`, whose cast writes another text, is decoded.
const fn casts_as_it_is_written(oid: u32) -> bool {
    oid < FIRST_OWN_OID && oid != XML
}

/// How a type's values are decoded; `None` for what comes as text.
const fn wire(oid: u32, kind: TypeKind) -> Option<Wire> {
    // Labels of enumerations are sent as text.
    if matches!(kind, TypeKind::Enum) {
        return Some(Wire::Text);
    }
    Some(match oid {
        16 => Wire::Bool,
        17 => Wire::Bytea,
        18 => Wire::Char,
        20 => Wire::Int8,
        21 => Wire::Int2,
        23 => Wire::Int4,
        26 => Wire::Oid,
        700 => Wire::Float4,
        701 => Wire::Float8,
        1700 => Wire::Numeric,
        // name, text, bpchar, varchar
        19 | 25 | 1042 | 1043 => Wire::Text,
        114 => Wire::Json,
        3802 => Wire::Jsonb,
        1082 => Wire::Date,
        1083 => Wire::Time,
        1266 => Wire::TimeTz,
        1114 => Wire::Timestamp,
        1184 => Wire::TimestampTz,
        2950 => Wire::Uuid,
        // cidr, inet
        650 | 869 => Wire::Inet,
        _ => return None,
    })
}

/// Whether a spreadsheet takes the type's text for a number, and may.
pub(crate) const fn is_number(pg_type: &PgType) -> bool {
    const MONEY: u32 = 790;
    if pg_type.array.is_some() {
        return false;
    }
    let wire = wire(pg_type.oid, pg_type.kind);
    pg_type.oid == MONEY
        || matches!(
            wire,
            Some(
                Wire::Int2
                    | Wire::Int4
                    | Wire::Int8
                    | Wire::Oid
                    | Wire::Float4
                    | Wire::Float8
                    | Wire::Numeric
            )
        )
}
