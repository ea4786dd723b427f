//! What a source says about a data set, and the transaction in which an export reads one.
//!
//! A source is somebody else's database, often a replica: nothing here writes. Deliberately absent: connecting, which
//! needs the configuration, and any decision about what a refusal means for an export.

mod describe;
mod examine;
mod index;
mod sample;
mod snapshot;

pub use describe::{Description, describe};
pub use examine::{Examination, Finding, Level, examine};
pub use snapshot::{AsOf, Limits, Snapshot};
