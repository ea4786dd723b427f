//! Where we read on purpose what Java refuses, or something else; each stands in the crate's documentation.

use waybill_avro_evolution::{Json, Kind, Primitive, Record, Schema, TypeId};

/// Why Java refused what the compatibility check had called compatible.
pub(crate) fn why_refused(refusal: &str) -> Option<&'static str> {
    const RENAMED: &str = "read here, refused by Java: an alias renames to a name that something else has";
    const DEFAULT: &str = "read here, refused by Java: a default of a union, taken for another branch";
    const NAMES: &str =
        "read here, refused by Java: full names are compared in a union, or an alias renames too much";
    [
        ("AvroTypeException: Found ", NAMES),
        ("AvroRuntimeException: Duplicate in union", RENAMED),
        ("AvroRuntimeException: Duplicate field", RENAMED),
        ("AvroTypeException: No default value for", DEFAULT),
        ("AvroTypeException: Non-", DEFAULT),
        ("AvroTypeException: Not compatible default value for union", DEFAULT),
        ("TracingAvroTypeException: enum value", DEFAULT),
        (
            "AvroRuntimeException: Not an array",
            "read here, refused by Java: an empty array as a default of a union",
        ),
    ]
    .into_iter()
    .find(|(message, _)| refusal.starts_with(message))
    .map(|(_, why)| why)
}

/// Why a value is another one than Java's.
pub(crate) fn why_another_value(reader: &Schema, writer: &Schema) -> Option<&'static str> {
    let records = |schema: &Schema| -> Vec<Record> {
        let named = schema.named_types();
        named
            .filter_map(
                |id| if let Kind::Record(record) = &schema[id].kind { Some(record.clone()) } else { None },
            )
            .collect()
    };
    let (read, written) = (records(reader), records(writer));
    let mut fields = read.iter().flat_map(|record| &record.fields);
    let defaults = |(ty, default): (TypeId, Option<&Json>)| {
        default.is_some_and(|value| is_taken_otherwise(reader, ty, value))
    };
    if fields.any(|field| defaults((field.ty, field.default.as_ref()))) {
        return Some(
            "another value than Java's: a union's default, of which Java takes the first branch of the same kind",
        );
    }
    let is_renamed_only_here = |to: &Record, from: &Record| {
        let aliased =
            to.fields.iter().flat_map(|field| &field.aliases).any(|alias| from.field(alias).is_some());
        aliased && to.name != from.name && !to.aliases.contains(&from.name)
    };
    if read.iter().any(|to| written.iter().any(|from| is_renamed_only_here(to, from))) {
        return Some(
            "another value than Java's: a field's alias, which Java forgets where records differ in namespace",
        );
    }
    None
}

/// Whether Java takes a default, or a part of it, for a value of another branch than the first that it fits.
fn is_taken_otherwise(schema: &Schema, id: TypeId, value: &Json) -> bool {
    match (&schema[id].kind, value) {
        (Kind::Union(branches), _) => {
            let fitting = branches.iter().find(|branch| fits(schema, **branch, value));
            let javas = branches.iter().find(|branch| java_looks_no_closer(schema, **branch, value));
            fitting != javas || fitting.is_some_and(|branch| is_taken_otherwise(schema, *branch, value))
        }
        (Kind::Array(of), Json::Array(items)) => {
            items.iter().any(|item| is_taken_otherwise(schema, *of, item))
        }
        (Kind::Map(of), Json::Object(entries)) => {
            entries.iter().any(|(_, value)| is_taken_otherwise(schema, *of, value))
        }
        (Kind::Record(record), Json::Object(_)) => record.fields.iter().any(|field| {
            let part = value.get(&field.name).or(field.default.as_ref());
            part.is_some_and(|part| is_taken_otherwise(schema, field.ty, part))
        }),
        _ => false,
    }
}

fn java_looks_no_closer(schema: &Schema, id: TypeId, value: &Json) -> bool {
    match &schema[id].kind {
        Kind::Primitive(Primitive::Null) => matches!(value, Json::Null),
        Kind::Primitive(Primitive::Boolean) => matches!(value, Json::Bool(_)),
        Kind::Primitive(Primitive::String | Primitive::Bytes) | Kind::Fixed(_) => {
            matches!(value, Json::String(_))
        }
        Kind::Primitive(_) => matches!(value, Json::Integer(_) | Json::BigInteger(_) | Json::Float(_)),
        Kind::Record(_) | Kind::Enum(_) | Kind::Array(_) | Kind::Map(_) | Kind::Union(_) => true,
    }
}

fn fits(schema: &Schema, id: TypeId, value: &Json) -> bool {
    match (&schema[id].kind, value) {
        (Kind::Primitive(Primitive::Int), Json::Integer(value)) => i32::try_from(*value).is_ok(),
        (Kind::Primitive(Primitive::Int | Primitive::Long), value) => matches!(value, Json::Integer(_)),
        (Kind::Enum(symbols), Json::String(text)) => symbols.symbols.contains(text),
        (Kind::Array(of), Json::Array(items)) => items.iter().all(|item| fits(schema, *of, item)),
        (Kind::Map(of), Json::Object(entries)) => entries.iter().all(|(_, value)| fits(schema, *of, value)),
        (Kind::Record(record), Json::Object(_)) => record.fields.iter().all(|field| {
            value.get(&field.name).map_or(field.default.is_some(), |value| fits(schema, field.ty, value))
        }),
        (Kind::Union(branches), _) => branches.iter().any(|branch| fits(schema, *branch, value)),
        (Kind::Record(_) | Kind::Enum(_) | Kind::Array(_) | Kind::Map(_), _) => false,
        (Kind::Primitive(_) | Kind::Fixed(_), value) => java_looks_no_closer(schema, id, value),
    }
}
