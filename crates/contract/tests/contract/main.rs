//! The contract as its producers and consumers see it.

mod examples;
mod hostile;
mod refusals;
mod round_trip;
mod schema_files;
mod topic_file;
mod worked_example;
