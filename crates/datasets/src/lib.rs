//! Data sets as they are declared, what a request for one of them comes to, and the statement that reads it.
//!
//! Pure: a file's text becomes a [`Declaration`]; with its columns' types, as the database described them when it was
//! applied, it is a [`Revision`], which never changes; a request and a revision give a [`Spec`], or everything that is
//! wrong with the request; a spec and a revision give a [`Reading`]. Deliberately absent: Postgres (that is
//! `waybill-source`), and any value inside of a statement.

mod changes;
mod declaration;
mod file;
mod kind;
mod pinned;
mod quoting;
mod reading;
mod resolve;
mod revision;
mod value;

pub use changes::changes;
pub use declaration::{
    Declaration, DeclaredColumn, Defaults, FormatDefaults, LENGTH_MAX_SECONDS, OrderKey, Owner, Rows,
};
pub use file::{FILE_BYTES_MAX, FileProblem, parse};
pub use kind::{kind, kind_of_spec};
pub use pinned::{PinnedColumn, PinnedElement};
pub use reading::{Reading, Setting, TENANT_SETTING, select};
pub use resolve::{Refusal, resolve};
pub use revision::Revision;
pub use value::{FilterType, operators};
