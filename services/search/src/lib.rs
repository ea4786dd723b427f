//! The search projection of export facts.
