//! When two definitions of one name are the same, as Avro's Java library has it.
//!
//! A name may be defined twice if both definitions are equal. Docs, aliases, an enum's default, and whether a record is an
//! error are not looked at.

use std::collections::HashSet;

use crate::json::same_properties;
use crate::parser::Draft;
use crate::schema::{Field, Kind, Schema, Type, TypeId};

/// Definitions that lead deeper than this are not compared to their end, and count as different.
const DEPTH_MAX: usize = 512;

/// Types that are compared with others.
pub(crate) trait Types {
    /// The type, where it is known yet.
    fn known(&self, id: TypeId) -> Option<&Type>;
}

impl Types for [Draft] {
    fn known(&self, id: TypeId) -> Option<&Type> {
        if let Draft::Type { ty, .. } = &self[id.index()] { Some(ty) } else { None }
    }
}

impl Types for Schema {
    fn known(&self, id: TypeId) -> Option<&Type> {
        Some(&self[id])
    }
}

/// Whether two types of one schema say the same.
pub(crate) fn same_type(drafts: &[Draft], one: TypeId, two: TypeId) -> bool {
    Comparison { first: drafts, second: drafts, one_schema: true, assumed: HashSet::new(), depth: 0 }
        .same(one, two)
}

/// Whether two schemas say the same.
pub(crate) fn same_schema(one: &Schema, two: &Schema) -> bool {
    Comparison { first: one, second: two, one_schema: false, assumed: HashSet::new(), depth: 0 }
        .same(one.root(), two.root())
}

struct Comparison<'a, T: Types + ?Sized> {
    first: &'a T,
    second: &'a T,
    /// Whether a type may be met that is the very same one.
    one_schema: bool,
    /// Pairs that are being compared further out: the same unless proven different.
    assumed: HashSet<(TypeId, TypeId)>,
    depth: usize,
}

impl<T: Types + ?Sized> Comparison<'_, T> {
    fn same(&mut self, one: TypeId, two: TypeId) -> bool {
        if self.one_schema && one == two {
            return true;
        }
        let (Some(first), Some(second)) = (self.first.known(one), self.second.known(two)) else {
            return false;
        };
        self.depth += 1;
        let same = self.depth <= DEPTH_MAX
            && same_properties(&first.properties, &second.properties)
            && self.same_kind((one, first), (two, second));
        self.depth -= 1;
        same
    }

    fn same_kind(&mut self, (one, first): (TypeId, &Type), (two, second): (TypeId, &Type)) -> bool {
        match (&first.kind, &second.kind) {
            (Kind::Array(first), Kind::Array(second)) | (Kind::Map(first), Kind::Map(second)) => {
                self.same(*first, *second)
            }
            (Kind::Union(first), Kind::Union(second)) => {
                first.len() == second.len()
                    && first.iter().zip(second).all(|(one, two)| self.same(*one, *two))
            }
            (Kind::Enum(first), Kind::Enum(second)) => {
                first.name == second.name && first.symbols == second.symbols
            }
            (Kind::Fixed(first), Kind::Fixed(second)) => {
                first.name == second.name && first.size == second.size
            }
            (Kind::Record(first), Kind::Record(second)) => {
                first.name == second.name
                    && first.fields.len() == second.fields.len()
                    && (!self.assumed.insert((one, two))
                        || first
                            .fields
                            .iter()
                            .zip(&second.fields)
                            .all(|(one, two)| self.same_field(one, two)))
            }
            (Kind::Primitive(first), Kind::Primitive(second)) => first == second,
            _ => false,
        }
    }

    fn same_field(&mut self, one: &Field, two: &Field) -> bool {
        one.name == two.name
            && self.same(one.ty, two.ty)
            && one.default == two.default
            && one.order == two.order
            && same_properties(&one.properties, &two.properties)
    }
}
