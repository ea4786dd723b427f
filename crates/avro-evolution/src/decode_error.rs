//! Why bytes could not be decoded.

/// Why bytes could not be decoded. `at` is a place in them, in bytes from their beginning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end within a value.
    #[error("the bytes end at {at} within a value")]
    EndOfInput {
        /// Where they end.
        at: usize,
    },
    /// There are bytes after the value.
    #[error("the value ends at {at}, and {left} bytes follow")]
    TrailingBytes {
        /// Where the value ends.
        at: usize,
        /// How many follow.
        left: usize,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("the byte at {at} is no boolean")]
    InvalidBoolean {
        /// Where.
        at: usize,
    },
    /// A number of more bits than its type has.
    #[error("the number at {at} does not fit its type")]
    InvalidNumber {
        /// Where.
        at: usize,
    },
    /// A length that is negative, or beyond the end of the bytes.
    #[error("the length {length} at {at} is negative, or more than what is left")]
    InvalidLength {
        /// Where.
        at: usize,
        /// The length.
        length: i64,
    },
    /// A text that is not in UTF-8.
    #[error("the text at {at} is not in UTF-8")]
    InvalidUtf8 {
        /// Where.
        at: usize,
    },
    /// A block of more items than the bytes can hold, or with a size that is not its own.
    #[error("the block of {count} items at {at} does not fit its size, or what is left")]
    InvalidBlock {
        /// Where.
        at: usize,
        /// How many items it says that it has; negative where its size follows.
        count: i64,
    },
    /// A branch that the writer's union does not have.
    #[error("the writer's union has no branch {index} (at {at})")]
    UnknownBranch {
        /// Where.
        at: usize,
        /// Which.
        index: i64,
    },
    /// A symbol that the writer's enum does not have.
    #[error("the writer's enum has no symbol {index} (at {at})")]
    UnknownSymbol {
        /// Where.
        at: usize,
        /// Which.
        index: i64,
    },
    /// The value is legal, and the reader's schema has no place for it.
    #[error("the reader's schema has no place for the value at {at}: {why}")]
    Unreadable {
        /// Where.
        at: usize,
        /// What does not fit.
        why: Box<str>,
    },
    /// Values nest deeper than anybody follows.
    #[error("values are nested more than {max} deep (at {at})")]
    TooDeep {
        /// Where.
        at: usize,
        /// The bound.
        max: usize,
    },
    /// Few bytes would become more values than anybody keeps.
    #[error("the bytes before {at} would become more than anybody keeps: {what}")]
    TooLarge {
        /// Where.
        at: usize,
        /// What there is too much of.
        what: &'static str,
    },
    /// The type that the values are to become refuses them.
    #[error("the value at {at} is refused: {why}")]
    Refused {
        /// Where.
        at: usize,
        /// In that type's words.
        why: Box<str>,
    },
}
