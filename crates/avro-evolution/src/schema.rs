//! A schema: types that refer to one another.

use std::collections::HashMap;
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use crate::error::SchemaError;
use crate::json::Json;
use crate::logical::LogicalType;
use crate::name::Name;
use crate::parser;

/// An Avro schema, with every name in it resolved. Cheap to clone.
///
/// Its types stand beside one another and refer to each other by [`TypeId`], because they may do so in circles:
/// `schema[schema.root()]` is the outermost one.
#[derive(Clone)]
pub struct Schema {
    inner: Arc<Inner>,
}

struct Inner {
    types: Vec<Type>,
    root: TypeId,
    /// The named types in the order in which they were defined, those of references first.
    named: Vec<TypeId>,
    by_name: HashMap<Box<str>, TypeId>,
}

/// Which type of one schema; it says nothing about another schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub(crate) u32);

impl TypeId {
    pub(crate) fn at(index: usize) -> Self {
        // A text of bounded length defines fewer types than it has bytes.
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One type of a schema.
#[derive(Debug, Clone)]
pub struct Type {
    /// What it is.
    pub kind: Kind,
    /// What its values mean beyond that, where its attributes say so validly.
    pub logical: Option<LogicalType>,
    /// Every attribute that Avro itself gives no meaning to for this kind, `logicalType` and its own ones among them.
    pub properties: Vec<(String, Json)>,
}

/// What a type is.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A type that holds no other and has no name.
    Primitive(Primitive),
    /// Values of one type in order.
    Array(TypeId),
    /// Values of one type by text keys.
    Map(TypeId),
    /// A value of one of these types.
    Union(Vec<TypeId>),
    /// Fields in order.
    Record(Record),
    /// One of some symbols.
    Enum(Enum),
    /// A number of bytes.
    Fixed(Fixed),
}

/// The types that hold no other and have no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// No value.
    Null,
    /// A boolean.
    Boolean,
    /// 32 bits, signed.
    Int,
    /// 64 bits, signed.
    Long,
    /// IEEE 754, 32 bits.
    Float,
    /// IEEE 754, 64 bits.
    Double,
    /// Bytes.
    Bytes,
    /// A text.
    String,
}

/// A record, or an error, which is one.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its name.
    pub name: Name,
    /// Earlier names, and names of writers' records that are meant by it.
    pub aliases: Vec<Name>,
    /// What its author says about it.
    pub doc: Option<String>,
    /// Whether it was declared as an `error`.
    pub is_error: bool,
    /// Its fields, in the order in which they are written.
    pub fields: Vec<Field>,
    pub(crate) by_name: HashMap<Box<str>, usize>,
}

impl Record {
    /// The field of that name and its place.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<(usize, &Field)> {
        self.by_name.get(name).map(|&at| (at, &self.fields[at]))
    }
}

/// A field of a record.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Names of writers' fields that are meant by it.
    pub aliases: Vec<String>,
    /// What its author says about it.
    pub doc: Option<String>,
    /// The type of its values.
    pub ty: TypeId,
    /// What a reader takes where the writer has no such field.
    pub default: Option<Json>,
    /// How it takes part in sorting.
    pub order: Order,
    /// Every attribute that Avro itself gives no meaning to.
    pub properties: Vec<(String, Json)>,
}

/// How a field takes part in sorting its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Smaller values first.
    #[default]
    Ascending,
    /// Larger values first.
    Descending,
    /// Not at all.
    Ignore,
}

impl Order {
    /// As a schema writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ascending => "ascending",
            Self::Descending => "descending",
            Self::Ignore => "ignore",
        }
    }
}

/// An enum.
#[derive(Debug, Clone)]
pub struct Enum {
    /// Its name.
    pub name: Name,
    /// Earlier names, and names of writers' enums that are meant by it.
    pub aliases: Vec<Name>,
    /// What its author says about it.
    pub doc: Option<String>,
    /// Its symbols; data hold their places.
    pub symbols: Vec<String>,
    /// The symbol that a reader takes for one that it does not know.
    pub default: Option<String>,
}

/// A fixed type.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// Its name.
    pub name: Name,
    /// Earlier names, and names of writers' types that are meant by it.
    pub aliases: Vec<Name>,
    /// What its author says about it.
    pub doc: Option<String>,
    /// How many bytes each value has.
    pub size: usize,
}

impl Type {
    /// The name, aliases and doc, where it is a record, an enum or a fixed type.
    #[must_use]
    pub fn named(&self) -> Option<Named<'_>> {
        let (name, aliases, doc) = match &self.kind {
            Kind::Record(record) => (&record.name, &record.aliases, &record.doc),
            Kind::Enum(symbols) => (&symbols.name, &symbols.aliases, &symbols.doc),
            Kind::Fixed(fixed) => (&fixed.name, &fixed.aliases, &fixed.doc),
            Kind::Primitive(_) | Kind::Array(_) | Kind::Map(_) | Kind::Union(_) => return None,
        };
        Some(Named { name, aliases, doc: doc.as_deref() })
    }

    /// The full name of a named type, and what the kind is called for others: what tells the branches of a union apart.
    #[must_use]
    pub fn full_name(&self) -> &str {
        self.named().map_or_else(|| self.kind.as_str(), |named| named.name.full())
    }

    /// The attribute of that name, where Avro itself gives it no meaning.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Json> {
        self.properties.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    /// The types that it holds, in the order in which they are written.
    pub(crate) fn parts(&self) -> Vec<TypeId> {
        match &self.kind {
            Kind::Array(part) | Kind::Map(part) => vec![*part],
            Kind::Union(branches) => branches.clone(),
            Kind::Record(record) => record.fields.iter().map(|field| field.ty).collect(),
            Kind::Primitive(_) | Kind::Enum(_) | Kind::Fixed(_) => Vec::new(),
        }
    }
}

/// What records, enums and fixed types have in common.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Its name.
    pub name: &'a Name,
    /// Other names that are meant by it.
    pub aliases: &'a [Name],
    /// What its author says about it.
    pub doc: Option<&'a str>,
}

impl Kind {
    /// As a schema writes it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Primitive(primitive) => primitive.as_str(),
            Self::Array(_) => "array",
            Self::Map(_) => "map",
            Self::Union(_) => "union",
            Self::Record(_) => "record",
            Self::Enum(_) => "enum",
            Self::Fixed(_) => "fixed",
        }
    }
}

impl Primitive {
    const ALL: [Self; 8] = [
        Self::Null,
        Self::Boolean,
        Self::Int,
        Self::Long,
        Self::Float,
        Self::Double,
        Self::Bytes,
        Self::String,
    ];

    /// As a schema writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bytes => "bytes",
            Self::String => "string",
        }
    }

    /// The one of that name.
    pub(crate) fn called(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|primitive| primitive.as_str() == name)
    }
}

impl Schema {
    /// Reads a schema from its JSON text, and checks all of it, the defaults included, as Avro's Java library does.
    ///
    /// # Errors
    /// With the place in the text, what is wrong there, and what to do.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        parser::parse(text, &[])
    }

    /// The same with the named types of other schemas known, which the text may refer to. A type that it defines again has
    /// to be equal to the one that is known.
    ///
    /// # Errors
    /// With the place in the text, what is wrong there, and what to do.
    pub fn parse_with(text: &str, references: &[Self]) -> Result<Self, SchemaError> {
        parser::parse(text, references)
    }

    pub(crate) fn new(types: Vec<Type>, root: TypeId, named: Vec<TypeId>) -> Self {
        let name_of = |id: &TypeId| (types[id.index()].full_name().into(), *id);
        let by_name = named.iter().map(name_of).collect();
        Self { inner: Arc::new(Inner { types, root, named, by_name }) }
    }

    /// The outermost type.
    #[must_use]
    pub fn root(&self) -> TypeId {
        self.inner.root
    }

    /// The named types in the order in which they were defined; those of references come first, used or not.
    pub fn named_types(&self) -> impl Iterator<Item = TypeId> + '_ {
        self.inner.named.iter().copied()
    }

    /// The type of that full name.
    #[must_use]
    pub fn named_type(&self, full_name: &str) -> Option<TypeId> {
        self.inner.by_name.get(full_name).copied()
    }

    pub(crate) fn types(&self) -> &[Type] {
        &self.inner.types
    }
}

impl Index<TypeId> for Schema {
    type Output = Type;

    fn index(&self, id: TypeId) -> &Type {
        &self.inner.types[id.index()]
    }
}

/// Its text, as [`Schema::to_json`] has it.
impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({})", self.to_json())
    }
}
