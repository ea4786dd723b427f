//! The counters over export facts.
