//! A column of the rows as Postgres' catalog describes it.

/// The query that describes columns. Binds: `$1 oid[]`, `$2 int4[]`, the type and the type modifier of each column as a
/// prepared statement tells them (-1 for no modifier). A row a column, in their order, with what [`PgType`] wants.
pub const DESCRIBE_TYPES: &str = include_str!("describe_types.sql");

/// A column that is to be exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name in the rows, as the catalog has it: without quotes.
    pub name: String,
    /// Its type, domains resolved.
    pub pg_type: PgType,
    /// Whether somebody asked for Postgres' own text of its values, whatever the format could hold.
    pub as_text: bool,
}

/// A type of Postgres, with every domain resolved to what it is made over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgType {
    /// `pg_type.oid`.
    pub oid: u32,
    /// How `format_type` writes it, such as `numeric(10,2)[]`. Only ever shown to people.
    pub name: String,
    /// What kind of type it is.
    pub kind: TypeKind,
    /// The modifier of the type, or of an array's elements; -1 for none.
    pub typmod: i32,
    /// What an array has in it; `None` for what is no array.
    pub array: Option<ArrayOf>,
}

/// What an array has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayOf {
    /// `pg_type.oid` of an element, domains resolved.
    pub oid: u32,
    /// What kind of type an element is of.
    pub kind: TypeKind,
    /// The dimensions that the column was declared with, where that is known. Postgres does not hold anybody to it.
    pub dimensions: Option<u16>,
}

/// `pg_type.typtype`, but for domains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeKind {
    /// A base type, an array included.
    Base,
    /// An enumeration.
    Enum,
    /// A row type.
    Composite,
    /// A range.
    Range,
    /// A multirange.
    Multirange,
    /// A type that no table can have a column of, such as `record`.
    Pseudo,
}

impl TypeKind {
    /// Reads `pg_type.typtype`. `None` for a domain, which has to be resolved first, and for what is no kind.
    #[must_use]
    pub const fn from_typtype(typtype: u8) -> Option<Self> {
        Some(match typtype {
            b'b' => Self::Base,
            b'e' => Self::Enum,
            b'c' => Self::Composite,
            b'r' => Self::Range,
            b'm' => Self::Multirange,
            b'p' => Self::Pseudo,
            _ => return None,
        })
    }
}
