//! A value of any type.

use crate::schema::TypeId;

/// A value of any type. It says nothing without its schema, whose types and fields it refers to by their places.
///
/// A value of a union is a value of one of its branches: which one, its kind tells, or its type where that has a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// A boolean.
    Boolean(bool),
    /// 32 bits, signed.
    Int(i32),
    /// 64 bits, signed.
    Long(i64),
    /// 32 bits.
    Float(f32),
    /// 64 bits.
    Double(f64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A text.
    String(String),
    /// The bytes of a fixed type.
    Fixed(TypeId, Vec<u8>),
    /// The place of a symbol in its enum.
    Enum(TypeId, u32),
    /// Values in order.
    Array(Vec<Value>),
    /// Values with their keys, in the order in which they came. A key that came twice is there twice; the last counts.
    Map(Vec<(String, Value)>),
    /// The values of a record's fields, in the order of its schema.
    Record(TypeId, Vec<Value>),
}
