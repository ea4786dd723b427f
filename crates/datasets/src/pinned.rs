//! Columns as the database described them when a data set was applied.

use serde::{Deserialize, Serialize};
use waybill_formats::{ArrayOf, Column, PgType, TypeKind};

/// The first oid that a database's own types can have; those below mean the same in every database.
const FIRST_OWN_OID: u32 = 16_384;

/// A column and its type, domains resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedColumn {
    /// Its name.
    pub name: String,
    /// Its type as people write it, such as `numeric(10,2)[]`.
    pub type_name: String,
    /// The type as a cast names it, without a modifier, which would round what is cast.
    pub cast_name: String,
    /// `pg_type.oid`.
    pub oid: u32,
    /// `pg_type.typtype`.
    pub kind: char,
    /// The modifier, -1 for none.
    pub typmod: i32,
    /// What an array has in it.
    pub element: Option<PinnedElement>,
    /// The labels of an enumeration, in their order.
    pub labels: Vec<String>,
}

/// What an array has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedElement {
    /// `pg_type.oid`.
    pub oid: u32,
    /// `pg_type.typtype`.
    pub kind: char,
    /// The dimensions that the column was declared with.
    pub dimensions: Option<u16>,
}

impl PinnedColumn {
    /// The column for a file's plan. `None` where the type's kind is none that this version knows.
    #[must_use]
    pub fn column(&self, as_text: bool) -> Option<Column> {
        let array = match &self.element {
            Some(element) => Some(ArrayOf {
                oid: element.oid,
                kind: kind_of(element.kind)?,
                dimensions: element.dimensions,
            }),
            None => None,
        };
        let pg_type = PgType {
            oid: self.oid,
            name: self.type_name.clone(),
            kind: kind_of(self.kind)?,
            typmod: self.typmod,
            array,
        };
        Some(Column { name: self.name.clone(), pg_type, as_text })
    }

    /// Whether a column that is described now is still of the type that was pinned. A type of the database's own may have
    /// another oid there, as after a restore; its name says that it is the same.
    #[must_use]
    pub fn is_still(&self, now: &Self) -> bool {
        let same_oid =
            |before: u32, now: u32| before == now || (before >= FIRST_OWN_OID && now >= FIRST_OWN_OID);
        let same_element = match (&self.element, &now.element) {
            (Some(before), Some(now)) => same_oid(before.oid, now.oid) && before.kind == now.kind,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.type_name == now.type_name
            && self.kind == now.kind
            && self.typmod == now.typmod
            && same_oid(self.oid, now.oid)
            && same_element
    }
}

fn kind_of(letter: char) -> Option<TypeKind> {
    u8::try_from(letter).ok().and_then(TypeKind::from_typtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column() -> PinnedColumn {
        PinnedColumn {
            name: "a".into(),
            type_name: "numeric(10,2)".into(),
            cast_name: "numeric".into(),
            oid: 1700,
            kind: 'b',
            typmod: 655_366,
            element: None,
            labels: Vec::new(),
        }
    }

    #[test]
    fn another_modifier_kind_or_element_is_another_type() {
        let before = column();
        assert!(before.is_still(&before));
        let others = [
            PinnedColumn { typmod: -1, ..column() },
            PinnedColumn { kind: 'e', ..column() },
            PinnedColumn { oid: 1042, ..column() },
            PinnedColumn { type_name: "numeric".into(), ..column() },
            PinnedColumn {
                element: Some(PinnedElement { oid: 25, kind: 'b', dimensions: None }),
                ..column()
            },
        ];
        for now in others {
            assert!(!before.is_still(&now), "{now:?}");
        }
    }

    #[test]
    fn a_type_of_the_database_is_known_by_its_name_after_a_restore() {
        let before = PinnedColumn { oid: 20_001, kind: 'e', type_name: "shop.mood".into(), ..column() };
        assert!(before.is_still(&PinnedColumn { oid: 31_415, ..before.clone() }));
        assert!(!before.is_still(&PinnedColumn { oid: 25, ..before.clone() }));
    }
}
