//! Why a value could not be encoded.

/// Why a value could not be encoded: which part of it, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct EncodeError {
    path: String,
    problem: EncodeProblem,
}

/// What can be wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeProblem {
    /// A value of another type.
    #[error("{found} is no {expected}")]
    Mismatch {
        /// What the schema has there.
        expected: String,
        /// What the value is.
        found: &'static str,
    },
    /// A value of none of a union's branches.
    #[error("{found} is no branch of the union of {branches}")]
    NoBranch {
        /// What the value is.
        found: String,
        /// What the union has.
        branches: String,
    },
    /// A value of several of a union's branches, and nothing says which.
    #[error("{found} may be several branches of the union of {branches}: name the one that is meant")]
    AmbiguousBranch {
        /// What the value is.
        found: &'static str,
        /// What the union has.
        branches: String,
    },
    /// A text that is none of an enum's symbols, or a place that none of them has.
    #[error("{symbol} is no symbol of {name}")]
    UnknownSymbol {
        /// The symbol or its place.
        symbol: String,
        /// The enum.
        name: String,
    },
    /// A record without a field that has no default.
    #[error("the field {field} is missing, and has no default that could stand for it")]
    MissingField {
        /// The field.
        field: String,
    },
    /// A record with a field that its schema does not have.
    #[error("the schema's record has no field {field}")]
    UnknownField {
        /// The field.
        field: String,
    },
    /// A number that its type does not hold.
    #[error("{number} does not fit an {expected}")]
    OutOfRange {
        /// The number.
        number: String,
        /// The type.
        expected: &'static str,
    },
    /// Another number of items or bytes than was said, or than the schema says.
    #[error("there are {found} of them, and not {expected}")]
    WrongLength {
        /// What was said.
        expected: usize,
        /// What there is.
        found: usize,
    },
    /// Values that nest deeper than a reader follows.
    #[error("values are nested more than {max} deep")]
    TooDeep {
        /// The bound.
        max: usize,
    },
    /// What the value itself says.
    #[error("{0}")]
    Refused(String),
}

impl EncodeError {
    /// A JSON pointer (RFC 6901) to the part of the value that is meant; empty for all of it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    #[must_use]
    pub fn problem(&self) -> &EncodeProblem {
        &self.problem
    }

    /// The same, one step further out.
    pub(crate) fn within(mut self, part: impl std::fmt::Display) -> Self {
        self.path.insert_str(0, &format!("/{}", crate::pointer::escaped(&part.to_string())));
        self
    }
}

impl From<EncodeProblem> for EncodeError {
    fn from(problem: EncodeProblem) -> Self {
        Self { path: String::new(), problem }
    }
}
