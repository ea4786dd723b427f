//! Intents: what a caller wants once.
