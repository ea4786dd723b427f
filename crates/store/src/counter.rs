//! Counters, in their generation.
