//! The search projection of export facts.
//!
//! Facts become documents of the active generation, in the order of the exports' versions, never of offsets. Deliberately
//! absent: an inbox (a version makes every copy harmless), any answer to a caller (the api reads the documents), and
//! rebuilding.

pub mod codes;

mod documents;
mod run;

pub use documents::Documents;
pub use run::run;
pub use waybill_subscription::Error;
