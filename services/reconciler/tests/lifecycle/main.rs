//! The end of a result's time, and what becomes of files, on a real Postgres and a real directory.

mod collector;
mod expiry;
mod house;
mod survey;
