//! Every type of Postgres with its awkward values, written in each format and each compression, read by somebody else's
//! reader, and compared with what Postgres itself says, value by value.

mod database;
mod documented;
mod file;
mod formats;
mod reader;
mod refusals;
mod samples;
