//! When two definitions of one name are the same, as Avro's Java library has it.
//!
//! A name may be defined twice if both definitions are equal. Docs, aliases, an enum's default, and whether a record is an
//! error are not looked at.

use std::collections::HashSet;

use crate::json::same_properties;
use crate::parser::Draft;
use crate::schema::{Field, Kind, Type, TypeId};

/// Definitions that lead deeper than this are not compared to their end, and count as different.
const DEPTH_MAX: usize = 512;

/// Whether the two say the same.
pub(crate) fn same_type(drafts: &[Draft], one: TypeId, two: TypeId) -> bool {
    Comparison { drafts, assumed: HashSet::new(), depth: 0 }.same(one, two)
}

struct Comparison<'a> {
    drafts: &'a [Draft],
    /// Pairs that are being compared further out: the same unless proven different.
    assumed: HashSet<(TypeId, TypeId)>,
    depth: usize,
}

impl Comparison<'_> {
    fn same(&mut self, one: TypeId, two: TypeId) -> bool {
        if one == two {
            return true;
        }
        let [Draft::Type { ty: first, .. }, Draft::Type { ty: second, .. }] =
            [one, two].map(|id| &self.drafts[id.index()])
        else {
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
