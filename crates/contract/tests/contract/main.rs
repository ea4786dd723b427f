//! The contract as its producers and consumers see it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod examples;
mod fingerprint;
mod hostile;
mod refusals;
mod round_trip;
mod schema_files;
mod topic_file;
mod worked_example;
