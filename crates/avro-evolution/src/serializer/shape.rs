//! Which branch of a union a value belongs to, by what it says about itself before it is written.

use crate::encode::{names, no_branch};
use crate::encode_error::{EncodeError, EncodeProblem};
use crate::schema::{Kind, Primitive, Schema, Type, TypeId};

/// What a value says about itself.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape<'a> {
    Null,
    Boolean,
    Integer,
    Float,
    Double,
    Text,
    Bytes,
    Sequence,
    Mapping,
    /// A struct of that name.
    Struct(&'a str),
    /// A variant of that name, with content: the branch that is called so.
    Variant(&'a str),
    /// A variant of that name, without: a symbol, or the branch that is called so.
    Symbol(&'a str),
}

impl Shape<'_> {
    /// The one branch that fits best.
    pub(super) fn branch_of(self, schema: &Schema, branches: &[TypeId]) -> Result<usize, EncodeError> {
        let mut best: Option<(u8, usize)> = None;
        let mut ambiguous = false;
        for (index, branch) in branches.iter().enumerate() {
            let Some(rank) = self.rank(&schema[*branch]) else { continue };
            match best {
                Some((found, _)) if found < rank => {}
                Some((found, _)) if found == rank => ambiguous = true,
                _ => (best, ambiguous) = (Some((rank, index)), false),
            }
        }
        match best {
            Some((_, branch)) if !ambiguous => Ok(branch),
            Some(_) => {
                let branches = names(schema, branches);
                Err(EncodeProblem::AmbiguousBranch { found: self.as_str(), branches }.into())
            }
            None => {
                let found = match self {
                    Self::Struct(name) | Self::Variant(name) | Self::Symbol(name) => name,
                    Self::Null
                    | Self::Boolean
                    | Self::Integer
                    | Self::Float
                    | Self::Double
                    | Self::Text
                    | Self::Bytes
                    | Self::Sequence
                    | Self::Mapping => self.as_str(),
                };
                Err(no_branch(schema, branches, found.to_owned()))
            }
        }
    }

    /// How well a branch fits, 0 best; nothing where it does not.
    fn rank(self, ty: &Type) -> Option<u8> {
        use Primitive as P;
        let ranked: &[(bool, u8)] = match (self, &ty.kind) {
            (Self::Null, Kind::Primitive(found)) => &[(*found == P::Null, 0)],
            (Self::Boolean, Kind::Primitive(found)) => &[(*found == P::Boolean, 0)],
            (Self::Integer, Kind::Primitive(found)) => &[(*found == P::Long, 0), (*found == P::Int, 1)],
            (Self::Float, Kind::Primitive(found)) => &[(*found == P::Float, 0), (*found == P::Double, 1)],
            (Self::Double, Kind::Primitive(found)) => &[(*found == P::Double, 0)],
            (Self::Text, Kind::Primitive(found)) => &[(*found == P::String, 0)],
            (Self::Bytes | Self::Sequence, Kind::Primitive(found)) => &[(*found == P::Bytes, 1)],
            (Self::Text, Kind::Enum(_)) => &[(true, 1)],
            (Self::Bytes | Self::Sequence, Kind::Fixed(_)) => &[(true, 2)],
            (Self::Sequence, Kind::Array(_)) | (Self::Mapping, Kind::Map(_)) => &[(true, 0)],
            (Self::Mapping, Kind::Record(_)) => &[(true, 1)],
            (Self::Struct(name), Kind::Record(_)) => &[(is_called(ty, name), 0), (true, 1)],
            (Self::Symbol(name), Kind::Enum(symbols)) => {
                &[(symbols.symbols.iter().any(|symbol| symbol == name), 0), (is_called(ty, name), 1)]
            }
            (Self::Variant(name) | Self::Symbol(name), _) => &[(is_called(ty, name), 1)],
            _ => &[],
        };
        ranked.iter().find(|(fits, _)| *fits).map(|(_, rank)| *rank)
    }

    /// For people.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Double => "a double",
            Self::Text => "a text",
            Self::Bytes => "a value of bytes",
            Self::Sequence => "a sequence",
            Self::Mapping => "a map",
            Self::Struct(_) => "a struct",
            Self::Variant(_) | Self::Symbol(_) => "a variant",
        }
    }
}

/// By its short name or its full one; types without a name by what they are.
fn is_called(ty: &Type, name: &str) -> bool {
    ty.named().map_or_else(
        || ty.kind.as_str() == name,
        |named| named.name.short() == name || named.name.full() == name,
    )
}
