//! A role's subscription to what the relay sends: facts, or commands.
//!
//! `waybill-consumer` knows nothing of exports and nothing of this process's configuration and health page; a role wants
//! both. This is what lies in between, once. Whoever writes a role that consumes writes an effect, reads its records with
//! [`read_fact`] or [`read_command`], and calls [`consume`]; a projection calls [`project`] and is done.
//!
//! Deliberately absent: any effect, and any choice of a position.

mod consume;
mod generation;
mod health;
mod projection;
mod reading;

pub use consume::{commands, consume, facts};
pub use projection::{Error, project};
pub use reading::{fact_key, read_command, read_fact};
