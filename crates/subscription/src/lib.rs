//! A role's subscription to what the relay sends: facts, or commands.
//!
//! `waybill-consumer` knows nothing of exports and nothing of this process's configuration and health page; a role wants
//! both. This is what lies in between, once. Whoever writes a role that consumes facts writes a [`FactEffect`], and calls
//! [`consume`] with it as [`OfFacts`]; a projection calls [`project`] and is done. Commands are read by [`read_command`].
//!
//! Deliberately absent: any effect, and any choice of a position.

mod consume;
mod generation;
mod health;
mod of_facts;
mod projection;
mod reading;

pub use consume::{commands, consume, facts};
pub use of_facts::{FactEffect, OfFacts};
pub use projection::{Error, project};
pub use reading::read_command;
