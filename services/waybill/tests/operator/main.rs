//! What operators and callers do from the command line, against a whole system, and what a script sees of it.

mod another_outbox;
mod both_ways;
mod callers;
mod datasets;
mod decisions;
mod exports;
mod files;
mod outbox;
mod parked;
mod shell;
