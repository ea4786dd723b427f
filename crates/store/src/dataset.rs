//! Registered data sets.
