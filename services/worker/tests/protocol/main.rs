//! The worker's protocol on a real Postgres: who may claim, who may complete, and what a zombie can still change.

mod attempt;
mod claim;
mod fencing;
mod files;
mod gate;
mod house;
mod outage;
mod running;
