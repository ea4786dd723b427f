//! The counters over export facts.
//!
//! Facts add up in the active generation, each once: its event key goes into the inbox in the transaction that counts it.
//! Deliberately absent: any answer to a caller (the api reads the counters), and rebuilding.

pub mod codes;

mod counters;
mod run;

pub use counters::Counters;
pub use run::run;
pub use waybill_subscription::Error;
