//! Objects that are read, and what may stand in one.

use serde_json::Value;
use utoipa::openapi::schema::{AdditionalProperties, Object, ObjectBuilder, SchemaType, Type};

/// What may be `null` as well.
pub(super) trait OrNull {
    fn or_null(self) -> Self;
}

impl OrNull for ObjectBuilder {
    fn or_null(self) -> Self {
        let mut object: Object = self.build();
        if let SchemaType::Type(of) = object.schema_type {
            object.schema_type = SchemaType::from_iter([of, Type::Null]);
        }
        if let Some(values) = &mut object.enum_values {
            values.push(Value::Null);
        }
        object.into()
    }
}

/// An object without any member but the named ones.
pub(super) fn closed() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

/// True or false.
pub(super) fn flag() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Boolean)
}
