//! Why a text is no schema.

use std::fmt;

/// Why a text is no schema: where, what, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", place(.path))]
pub struct SchemaError {
    path: String,
    problem: SchemaProblem,
}

impl SchemaError {
    pub(crate) fn new(path: String, problem: SchemaProblem) -> Self {
        Self { path, problem }
    }

    /// A JSON pointer (RFC 6901) to the part of the text that is meant; empty for all of it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    #[must_use]
    pub fn problem(&self) -> &SchemaProblem {
        &self.problem
    }
}

fn place(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

/// Where a text stops being JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: &'static str,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.problem)
    }
}

/// What can be wrong with a schema. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// The text is no JSON.
    #[error("the text is no JSON: {0}")]
    Syntax(SyntaxError),
    /// A number, a boolean or null stands where a schema should be.
    #[error("{found} is no schema: write a type's name, an object with \"type\", or an array for a union")]
    NotASchema {
        /// What stands there.
        found: &'static str,
    },
    /// An object that should have this property as a text has it not, or not as a text.
    #[error("\"{property}\" is missing, or is no text: {remedy}")]
    MissingText {
        /// The property.
        property: &'static str,
        /// What to write.
        remedy: &'static str,
    },
    /// A property that a type cannot be without.
    #[error("\"{property}\" is missing, or is not what it should be: {remedy}")]
    Missing {
        /// The property.
        property: &'static str,
        /// What to write.
        remedy: &'static str,
    },
    /// A name of a type, a field or a symbol.
    #[error(
        "{name:?} is no name: it begins with a letter or an underscore, and letters, digits and underscores follow"
    )]
    InvalidName {
        /// As it was written.
        name: String,
    },
    /// A type without a namespace that is called as a primitive is.
    #[error(
        "a type may not be called {name}, as a primitive is: choose another name, or give it a namespace"
    )]
    PrimitiveName {
        /// The name.
        name: String,
    },
    /// A name that nothing in the text or in what it refers to defines.
    #[error(
        "nothing defines {name}: define it here, write its full name, or add the schema that does as a reference"
    )]
    Undefined {
        /// The full name that was looked for.
        name: String,
    },
    /// Two different types with one full name.
    #[error(
        "{name} is defined before, and differently: rename one of the two, or refer to the first by its name"
    )]
    Redefined {
        /// The full name.
        name: String,
    },
    /// Two fields of one record with one name.
    #[error("the record has two fields {name}: rename one of them")]
    DuplicateField {
        /// The field.
        name: String,
    },
    /// An enum's symbol that comes twice.
    #[error("the enum has the symbol {symbol} twice: remove one")]
    DuplicateSymbol {
        /// The symbol.
        symbol: String,
    },
    /// An enum's default that is none of its symbols.
    #[error("the enum's default {symbol} is none of its symbols: add it to them, or choose one of them")]
    UnknownDefaultSymbol {
        /// The default.
        symbol: String,
    },
    /// A union directly within a union.
    #[error("a union may not hold a union: move the inner one's types into the outer one")]
    NestedUnion,
    /// Two branches of a union that nothing tells apart.
    #[error(
        "the union has two branches {name}: remove one (named types differ by full name, others by kind)"
    )]
    DuplicateBranch {
        /// The branches' full name.
        name: String,
    },
    /// A field's default that its type cannot have.
    #[error(
        "the default {default} of the field {field} is no {expected}: write one that is, or leave it out"
    )]
    InvalidDefault {
        /// The field.
        field: String,
        /// The default, shortened where it is long.
        default: String,
        /// The field's type.
        expected: String,
    },
    /// A default that cannot be judged, because it holds a value of a type that its own definition leads back to.
    #[error(
        "the default of the field {field} holds a value of a type that is being defined: \
         make that field nullable with null as its default"
    )]
    UnfinishedDefault {
        /// The field.
        field: String,
    },
    /// A field's sort order that is none.
    #[error("a field's order is \"ascending\", \"descending\" or \"ignore\", if it is there at all")]
    InvalidOrder,
    /// Aliases that are not an array of texts.
    #[error("aliases are an array of texts: write them so, or leave them out")]
    InvalidAliases,
    /// A number that Java's parser loses and then refuses.
    #[error("a property of a record, an array or a map holds an integer beyond 64 bits: write it as a text")]
    OversizedInteger,
    /// More types in one another than anything that reads schemas should have to follow.
    #[error(
        "types are nested more than {max} deep: give inner ones a name and define them beside each other"
    )]
    TooDeep {
        /// The bound.
        max: usize,
    },
}
