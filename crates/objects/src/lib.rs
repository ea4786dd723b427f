//! Where the files of exports lie: one way to read `[object_store]`, and one to open it, for whoever writes there, reads
//! there, collects there or looks whether one could.
//!
//! Deliberately absent: keys of objects but for how they begin (they are the worker's), and any decision about what may
//! go (the collector's).

mod cloud;
pub mod codes;
mod crypto;
mod error;
mod link;
mod objects;
mod place;
mod probe;
mod staged;
mod upload;

pub use cloud::REQUEST_SECONDS_MAX;
pub use error::ObjectsError;
pub use objects::Objects;
pub use place::Place;
pub use probe::ProbeError;
pub use upload::Upload;

/// Below this every key of an export's file begins, so that a bucket may hold other things beside them.
pub const EXPORTS: &str = "exports";
