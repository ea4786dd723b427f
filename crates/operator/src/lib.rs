//! What an operator sees of an outbox and decides about it, for everybody who is asked: the api about the product's own
//! outbox, the command line about any. One answer, one refusal and one rule for both.
//!
//! Everything happens in the caller's transaction, whose names mean that outbox. Deliberately absent: who the operator
//! is, whether the operator may, and whether what was done is kept; that is known only to whoever is asked.

pub mod codes;
mod decision;
mod error;
mod parked;
mod reason;
mod refusal;
mod status;

pub use decision::{Outcome, Proposal, carry_out};
pub use error::Error;
pub use parked::{Wanted, list, show};
pub use reason::{REASON_CHARACTERS_MAX, line, reason};
pub use refusal::{
    PARKED_BEHIND, PARKED_NOT_FOUND, PARKED_SETTLED, REQUEST_INVALID, Refusal, TOPIC_UNRECORDED, Wording,
};
pub use status::status;
