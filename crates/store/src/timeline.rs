//! One export's way through everything that is stored.
