//! Rows 23 to 25 and 27, again and again and all at once: workers that die and come back, under a collector.

mod campaign;
mod collector;
