//! What keeps a reader's schema from reading what a writer's schema wrote.

use std::fmt;

use crate::schema::TypeId;

/// One reason why a reader does not, or may not, read what a writer wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incompatibility {
    /// What kind of reason it is.
    pub kind: IncompatibilityKind,
    /// Where in the reader's schema, as a JSON pointer in the form of Avro's Java library: `/` is the whole schema. Below
    /// a branch of a writer's union it begins with the branch's place in that union.
    pub location: String,
    /// What exactly, in Java's words.
    pub message: String,
    /// The part of the reader's schema that is meant.
    pub reader: TypeId,
    /// The part of the writer's schema that is meant.
    pub writer: TypeId,
}

/// The kinds of reasons, as Avro's Java library tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IncompatibilityKind {
    /// Named types with other names, and no alias that joins them.
    NameMismatch,
    /// Fixed types of other sizes.
    FixedSizeMismatch,
    /// Symbols that the reader does not know, without a default for them.
    MissingEnumSymbols,
    /// A reader's field that the writer does not have, without a default.
    ReaderFieldMissingDefaultValue,
    /// Types of which neither is, nor becomes, the other.
    TypeMismatch,
    /// A branch of the writer's that no branch of the reader's reads.
    MissingUnionBranch,
}

impl IncompatibilityKind {
    /// As Java and the registries write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NameMismatch => "NAME_MISMATCH",
            Self::FixedSizeMismatch => "FIXED_SIZE_MISMATCH",
            Self::MissingEnumSymbols => "MISSING_ENUM_SYMBOLS",
            Self::ReaderFieldMissingDefaultValue => "READER_FIELD_MISSING_DEFAULT_VALUE",
            Self::TypeMismatch => "TYPE_MISMATCH",
            Self::MissingUnionBranch => "MISSING_UNION_BRANCH",
        }
    }
}

impl fmt::Display for IncompatibilityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.kind, self.location, self.message)
    }
}

/// Why two schemas were not compared to the end. To be taken as incompatible: nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// A reader's field, by its name and its aliases, means more than one field of the writer's record. Java refuses to
    /// answer, too.
    #[error(
        "the field {field} of the reader's record {record} means several fields of the writer's record: \
         take away the alias that is not meant"
    )]
    AmbiguousField {
        /// The reader's record.
        record: String,
        /// Its field.
        field: String,
    },
    /// More pairs of types than a comparison looks at.
    #[error("the schemas have more than {max} pairs of types to compare: split their unions")]
    TooManyPairs {
        /// The bound.
        max: usize,
    },
}
