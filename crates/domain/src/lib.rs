//! The lifecycles and identities of an export as pure decisions.
//!
//! Deliberately absent: I/O, clocks, randomness and async. Whoever calls passes the time (the database's) and the
//! random part of an identity, so that every decision can be repeated from what was stored.

pub mod attempt;
pub mod candidate;
pub mod export;
mod hex;
pub mod ids;
pub mod job;
pub mod limits;
pub mod retention;
pub mod search_text;
pub mod span;

pub use hex::hex;
